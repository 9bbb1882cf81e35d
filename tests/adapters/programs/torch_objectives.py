"""PyTorch programs with unusual objectives and modules: VAE, GAN, penalties, autocast, hooks, averages."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.adapters.programs.making import classes, classify, leaves_of, mlp, noise, program, trained


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.logvar, self.dec = nn.Linear(6, 5), nn.Linear(5, 2), nn.Linear(5, 2), nn.Linear(2, 6)

    def forward(self, x):
        h = torch.tanh(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.dec(z)), mu, logvar


@program
def vae():
    def loss_of(model):
        torch.manual_seed(3)
        x = torch.rand(4, 6)
        out, mu, logvar = model(x)
        return F.binary_cross_entropy(out, x, reduction="sum") - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())

    return trained(VAE, loss_of, torch.optim.Adam, steps=1)


@program
def gan_step():
    torch.manual_seed(0)
    g, d = (
        nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3)),
        nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)),
    )
    for_g, for_d = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())

    def run():
        real, fake = noise(4, 3), g(noise(4, 2, seed=1))
        for_d.zero_grad()
        ones, zeros = torch.ones(4, 1), torch.zeros(4, 1)
        entropy = F.binary_cross_entropy_with_logits
        (entropy(d(real), ones) + entropy(d(fake.detach()), zeros)).backward()
        for_d.step()
        for_g.zero_grad()
        entropy(d(fake), ones).backward()
        for_g.step()
        return leaves_of(g, d)

    return run


@program
def wgan_gradient_penalty():
    torch.manual_seed(0)
    critic = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))

    def run():
        x = noise(4, 3).requires_grad_()
        (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
        (critic(x).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()).backward()
        return leaves_of(critic)

    return run


@program
def autocast_bfloat16():
    def loss_of(model):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(noise(5, 6))
        return F.cross_entropy(out.float(), classes(5, 3))

    return trained(mlp, loss_of, torch.optim.SGD, steps=1, lr=0.1)


@program
def dropout_and_norms():
    def make():
        return nn.Sequential(nn.Linear(6, 8), nn.GroupNorm(2, 8), nn.Dropout(0.3), nn.RMSNorm(8), nn.Linear(8, 3))

    def loss_of(model):
        torch.manual_seed(5)
        return classify(model)

    return trained(make, loss_of)


@program
def module_hooks():
    torch.manual_seed(0)
    model = mlp()
    seen = []
    model[0].register_full_backward_hook(lambda m, gi, go: seen.append(go[0].norm()))
    model[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    model[1].register_forward_hook(lambda m, i, o: o * 1.5)

    def run():
        model.zero_grad()
        x = noise(5, 6).requires_grad_()
        F.cross_entropy(model(x), classes(5, 3)).backward()
        return leaves_of(model)

    return run


@program
def weight_norm():
    return trained(
        lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 4)), nn.Tanh(), nn.Linear(4, 3)),
        classify,
    )


@program
def spectral_norm():
    return trained(
        lambda: nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(6, 4)), nn.Linear(4, 3)), classify
    )


@program
def frozen_backbone():
    torch.manual_seed(0)
    model = mlp()
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)

    def run():
        classify(model).backward()
        optimizer.step()
        return {name: p for name, p in leaves_of(model).items() if p.requires_grad}

    return run


@program
def exponential_average():
    torch.manual_seed(0)
    model, average = mlp(), mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for _ in range(2):
            optimizer.zero_grad()
            target = average(noise(5, 6)).detach()
            F.mse_loss(model(noise(5, 6)), target).backward()
            optimizer.step()
            with torch.no_grad():
                for mine, theirs in zip(average.parameters(), model.parameters(), strict=True):
                    mine.mul_(0.9).add_(theirs, alpha=0.1)
        return leaves_of(model)

    return run


@program
def policy_gradient():
    torch.manual_seed(0)
    policy = nn.Linear(4, 2)

    def run():
        torch.manual_seed(1)
        losses = []
        for step in range(3):
            choice = torch.distributions.Categorical(logits=policy(noise(4, seed=step)))
            action = choice.sample()
            losses.append(-choice.log_prob(action) * (step - 1.0))
        torch.stack(losses).sum().backward()
        return leaves_of(policy)

    return run


@program
def contrastive():
    def loss_of(model):
        one, two = F.normalize(model(noise(4, 6)), dim=1), F.normalize(model(noise(4, 6, seed=1)), dim=1)
        return F.cross_entropy(one @ two.T / 0.1, torch.arange(4))

    return trained(mlp, loss_of)


@program
def embedding_bag():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.bag, self.head = nn.EmbeddingBag(10, 4, mode="mean"), nn.Linear(4, 3)

        def forward(self):
            return self.head(self.bag(classes(8, 10).view(4, 2)))

    return trained(Words, lambda model: F.cross_entropy(model(), classes(4, 3)))


@program
def unet():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.mid = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)
            self.up, self.out = nn.ConvTranspose2d(3, 3, 2, stride=2), nn.Conv2d(6, 1, 1)

        def forward(self, x):
            a = F.relu(self.down(x))
            b = F.relu(self.mid(F.avg_pool2d(a, 2)))
            return self.out(torch.cat([a, self.up(b)], 1))

    return trained(Net, lambda model: F.mse_loss(model(noise(1, 1, 4, 4)), noise(1, 1, 4, 4, seed=1)))


@program
def functional_call():
    torch.manual_seed(0)
    model = mlp()
    weights = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}

    def run():
        out = torch.func.functional_call(model, weights, (noise(5, 6),))
        F.cross_entropy(out, classes(5, 3)).backward()
        return weights

    return run


@program
def swapped_data():
    w = noise(3).requires_grad_()

    def run():
        (w * w).sum().backward()
        w.data = w.data - 0.1 * w.grad
        w.grad = None
        (w * w * w).sum().backward()
        return {"w": w}

    return run
