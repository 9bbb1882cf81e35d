"""PyTorch programs without modules: hooks, several passes, second derivatives, functions of the user's own."""

import torch
import torch.nn.functional as F

from tests.adapters.programs.making import leaf, program


@program
def no_grad_blocks():
    a = leaf(4)

    def run():
        with torch.no_grad():
            scale = a.abs().max()
        y = (a / scale).sum()
        with torch.inference_mode():
            shown = a * 2
            shown += 1
        y.backward()
        return {"a": a}

    return run


@program
def detached_copy():
    a, b = leaf(4), leaf(4, seed=1)

    def run():
        y = (a.detach() * b + a * b.data).sum()
        y.backward()
        return {"a": a, "b": b}

    return run


@program
def tensor_hooks():
    a, b = leaf(4), leaf(4, seed=1)

    def run():
        h = a * b
        h.register_hook(lambda g: g * 2)
        a.register_hook(lambda g: g.clamp(-0.5, 0.5))
        (h * h).sum().backward()
        return {"a": a, "b": b}

    return run


@program
def retained_gradients():
    a = leaf(4)

    def run():
        h = a.exp()
        h.retain_grad()
        y = (h * h).sum()
        (g,) = torch.autograd.grad(y, h, retain_graph=True)
        y.backward()
        return {"a": a, "h": h}

    return run


@program
def graph_used_twice():
    a, b = leaf(3), leaf(3, seed=1)

    def run():
        h = a * b
        h.sum().backward(retain_graph=True)
        (h * h).sum().backward()
        return {"a": a, "b": b}

    return run


@program
def several_targets():
    a, b = leaf(3), leaf(3, seed=1)

    def run():
        torch.autograd.backward([a * b, (a + b).sum()], [torch.ones(3), torch.tensor(2.0)])
        return {"a": a, "b": b}

    return run


@program
def chosen_inputs():
    a, b = leaf(3), leaf(3, seed=1)

    def run():
        y = (a * b).sum()
        y.backward(inputs=[a], retain_graph=True)
        g, none = torch.autograd.grad(y * y, [b, leaf(3)], allow_unused=True)
        b.grad = g
        return {"a": a, "b": b}

    return run


@program
def second_derivative():
    x = torch.tensor(1.5, requires_grad=True)

    def run():
        y = torch.tanh(x) * x**3
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        slope.backward()
        return {"x": x}

    return run


@program
def hessian_by_rows():
    x = leaf(3)

    def run():
        y = (x**2).sum() * x[0] + torch.exp(x[1] * x[2])
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        rows = [torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(3)]
        x.grad = torch.stack(rows).sum(0)
        return {"x": x}

    return run


@program
def gradient_penalty():
    w, x = leaf(4, 3), leaf(5, 4, seed=1)

    def run():
        score = torch.tanh(x @ w).sum()
        (g,) = torch.autograd.grad(score, x, create_graph=True)
        loss = ((g.norm(dim=1) - 1) ** 2).mean()
        loss.backward()
        return {"w": w, "x": x}

    return run


@program
def maml():
    w, b = leaf(2, 2, scale=0.5), leaf(2, seed=1)

    def run():
        x, y = torch.ones(3, 2), torch.zeros(3, 2)
        inner = F.mse_loss(x @ w + b, y)
        gw, gb = torch.autograd.grad(inner, [w, b], create_graph=True)
        fast_w, fast_b = w - 0.1 * gw, b - 0.1 * gb
        F.mse_loss(torch.tanh(x @ fast_w + fast_b), y + 1).backward()
        return {"w": w, "b": b}

    return run


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        return torch.round(x * scale) / scale, x.sign()

    @staticmethod
    def backward(ctx, g, sign):
        return g + sign, None


@program
def custom_function():
    a = leaf(4)

    def run():
        y = Cube.apply(a * 2)
        quantized, sign = StraightThrough.apply(y, 8.0)
        (quantized * sign).sum().backward()
        return {"a": a}

    return run


@program
def graph_from_before():
    a = leaf(4)
    before = torch.sin(a * 2)

    def run():
        (before * a).sum().backward()
        return {"a": a}

    return run


@program
def casts():
    a = leaf(4)

    def run():
        y = a.double().exp().float() + a.half().float() + a.to(torch.bfloat16).float() + a.to(torch.float64).to(a)
        y.sum().backward()
        return {"a": a}

    return run


@program
def complex_numbers():
    a, b = leaf(3), leaf(3, seed=1)

    def run():
        z = torch.complex(a, b)
        (z * z.conj() + torch.exp(1j * z)).real.sum().backward()
        return {"a": a, "b": b}

    return run


@program
def python_loop_with_branches():
    x = torch.tensor(0.7, requires_grad=True)

    def run():
        y = x
        for _ in range(20):
            y = torch.sin(y) if y > 0.5 else y * 1.7
        if y.item() > 0:
            y = y**2
        y.backward()
        return {"x": x}

    return run


@program
def masked_and_clamped():
    a = leaf(10)

    def run():
        y = torch.where(a > 0, a.abs().sqrt(), a**2) + a.masked_fill(a < 0, 0.0) + a.clamp(-0.5, 0.5) + a.clamp(min=0.1)
        y = y + torch.maximum(a, -a) + a.clamp(max=0.3) + torch.tril(a.view(2, 5)).view(10) + F.pad(a, (1, 1))[1:-1]
        y.sum().backward()
        return {"a": a}

    return run


@program
def reflected_operators():
    a = leaf(4)

    def run():
        y = 2 - a + 1 / (a * a + 1) + 2**a + (3 * a) ** 2 + (-a) % 2 + torch.rsub(a, 1.5)
        y.sum().backward()
        return {"a": a}

    return run


@program
def newton_steps():
    x = torch.tensor(2.0, requires_grad=True)

    def run():
        for _ in range(4):
            y = x**4 - 3 * x
            (g,) = torch.autograd.grad(y, x, create_graph=True)
            (h,) = torch.autograd.grad(g, x)
            with torch.no_grad():
                x.sub_(g / h)
        (x * x).backward()
        return {"x": x}

    return run


@program
def manual_training_loop():
    w, b = leaf(3, 1), leaf(1, seed=1)
    x, y = torch.randn(8, 3, generator=torch.Generator().manual_seed(2)), torch.ones(8, 1)

    def run():
        for _ in range(3):
            loss = ((x @ w + b - y) ** 2).mean()
            loss.backward()
            with torch.no_grad():
                for p in (w, b):
                    p -= 0.1 * p.grad
                    p.grad.zero_()
        ((x @ w + b - y) ** 2).mean().backward()
        return {"w": w, "b": b}

    return run
