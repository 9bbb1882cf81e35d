"""PyTorch programs without modules: arithmetic, views, writes in place, reductions, losses."""

import torch
import torch.nn.functional as F

from tests.adapters.programs.making import leaf, program


@program
def square_and_sine():
    x = torch.tensor(3.0, requires_grad=True)

    def run():
        y = x * x + torch.sin(x)
        y.backward()
        return {"x": x}

    return run


@program
def broadcasting():
    a, b, c = leaf(3, 1), leaf(4, seed=1), leaf(2, 3, 4, seed=2)

    def run():
        y = (a + b) * c - b / (1 + a * a)
        y.mean().backward()
        return {"a": a, "b": b, "c": c}

    return run


@program
def five_hundred_ops():
    leaves = [leaf(8, seed=i) for i in range(4)]

    def run():
        values = list(leaves)
        for i in range(500):
            one, two = values[-1], values[-1 - (7 * i) % min(len(values), 20)]
            values.append(torch.tanh(one * two) if i % 3 == 0 else one + two if i % 3 == 1 else torch.sin(one))
        values[-1].sum().backward()
        return {f"leaf{i}": x for i, x in enumerate(leaves)}

    return run


@program
def in_place_ops():
    a, b = leaf(4), leaf(4, seed=1)

    def run():
        y = a * 2
        y += b
        y.mul_(b).clamp_(min=-1.0)
        y[1:3] = b[:2] * 3
        y.sum().backward()
        return {"a": a, "b": b}

    return run


@program
def views_written_into():
    a = leaf(6)

    def run():
        base = torch.zeros(3, 4)
        base[0] = a[:4]
        row = base.view(4, 3)[1]
        row *= a[3:]
        base.t()[2, 1:] += a[4:]
        (base * base).sum().backward()
        return {"a": a}

    return run


@program
def indexing():
    a = leaf(5, 4)

    def run():
        rows = a[torch.tensor([0, 0, 3])]
        mask = a > 0
        y = (
            rows.sum()
            + a[mask].prod()
            + a[1:4, ::2].square().sum()
            + a.gather(1, torch.tensor([[0], [1], [2], [3], [0]])).sum()
        )
        y.backward()
        return {"a": a}

    return run


@program
def joining_and_splitting():
    a, b = leaf(2, 3), leaf(2, 3, seed=1)

    def run():
        both = torch.cat([a, b], dim=1)
        first, second, third = both.chunk(3, dim=1)
        parts = torch.stack([first, second * third]).unbind(0)
        low, high = torch.split(parts[1], 1, dim=0)
        (parts[0].sum() + (low * high).sum()).backward()
        return {"a": a, "b": b}

    return run


@program
def reductions():
    a = leaf(3, 4)

    def run():
        y = a.max(dim=1).values.sum() + a.min() + a.std() + a.var(0).sum() + a.norm() + a.logsumexp(0).sum() + a.amax()
        y = y + a.cumsum(0).prod(1).sum() + a.median() + a.topk(2, dim=1).values.sum() + a.sort(0)[0][1].sum()
        y.backward()
        return {"a": a}

    return run


@program
def linear_algebra():
    a = leaf(3, 3)

    def run():
        spd = a @ a.T + 3 * torch.eye(3)
        factor = torch.linalg.cholesky(spd)
        y = (
            torch.logdet(spd)
            + torch.linalg.solve(spd, a).sum()
            + torch.trace(factor)
            + torch.einsum("ij,jk->", a, factor)
        )
        y.backward()
        return {"a": a}

    return run


@program
def activations():
    a = leaf(20)

    def run():
        y = a
        for function in (
            F.relu,
            F.gelu,
            F.silu,
            F.softplus,
            F.elu,
            F.leaky_relu,
            F.selu,
            F.mish,
            F.hardtanh,
            F.softsign,
        ):
            y = y + function(a)
        (y + torch.sigmoid(a) + torch.tanh(a) + F.log_softmax(a, 0) + F.softmax(a, 0)).sum().backward()
        return {"a": a}

    return run


@program
def losses():
    a, b = leaf(6, 5), leaf(6, 5, seed=1)

    def run():
        target = torch.tensor([0, 1, 2, 3, 4, 0])
        y = F.cross_entropy(a, target) + F.mse_loss(a, b) + F.l1_loss(a, b) + F.smooth_l1_loss(a, b)
        y = y + F.binary_cross_entropy_with_logits(a, torch.ones(6, 5)) + F.nll_loss(F.log_softmax(b, 1), target)
        y = y + F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean") + F.huber_loss(a, b)
        y = y + F.cosine_similarity(a, b).mean() + F.triplet_margin_loss(a, b, a * b)
        y.backward()
        return {"a": a, "b": b}

    return run
