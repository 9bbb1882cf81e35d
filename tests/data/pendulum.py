"""How long is the string?  Fits the length of a pendulum to measured angles, through Euler steps."""

import numpy as np

import autodiff_lab as lab

G = 9.81
DT = 0.1
STEPS = 10
ATTEMPTS = 8
RATE = 2.0
START = 0.8


def swing(length: lab.Variable | float) -> lab.Tensor:
    """Angles at every step, from rest at START (semi-implicit Euler)."""
    angle, speed = lab.constant(START), lab.constant(0.0)
    angles = []
    for step in range(1, STEPS + 1):
        with lab.name_scope(f"after {step * DT:.1f} s"):
            speed = speed - DT * G / length * lab.sin(angle)
            angle = angle + DT * speed
        angles.append(angle)
    return lab.stack(angles)


noise = np.random.default_rng(1).normal(0, 0.005, STEPS)
with lab.name_scope("experiment"):
    truth = swing(1.5)
measured = lab.constant(truth.numpy() + noise.astype(np.float32), name="measured")

length = lab.Variable(1.0, name="length")
for attempt in range(1, ATTEMPTS + 1):
    with lab.name_scope(f"attempt {attempt}"):
        with lab.GradientTape() as tape:
            angles = swing(length)
            misfit = lab.reduce_mean((angles - measured) ** 2)
        slope = tape.gradient(misfit, length)
        length.assign_sub(RATE * slope)
    print(f"attempt {attempt}: misfit {float(misfit):.5f}, length {float(length):.3f} m")
