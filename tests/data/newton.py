"""Newton's method for the lowest point of a function, with first and second derivatives from nested tapes."""

import autodiff_lab as lab

TOLERANCE = 1e-5


def f(x: lab.Variable) -> lab.Tensor:
    return lab.exp(x) - 3.0 * x + 0.5 * x * x


def derivatives(x: lab.Variable) -> tuple[lab.Tensor, lab.Tensor, lab.Tensor]:
    with lab.GradientTape() as outer:
        with lab.GradientTape() as inner:
            y = f(x)
        slope = inner.gradient(y, x)
    curvature = outer.gradient(slope, x)
    return y, slope, curvature


x = lab.Variable(3.0, name="x")
for step in range(20):
    with lab.name_scope(f"step {step}"):
        y, slope, curvature = derivatives(x)
        print(f"step {step}: x = {float(x):.6f}, f(x) = {float(y):.6f}, f'(x) = {float(slope):.6f}")
        if abs(float(slope)) < TOLERANCE:
            break
        x.assign_sub(slope / curvature)
print(f"lowest point at x = {float(x):.6f}")
