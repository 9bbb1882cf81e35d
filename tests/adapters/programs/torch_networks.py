"""PyTorch programs with the networks that people train, small: convolutions, recurrence, attention."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.adapters.programs.making import classes, follow, mlp, noise, program, see, trained


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, stride=2)
        self.norm, self.head = nn.BatchNorm2d(4), nn.Linear(4 * 3 * 3, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 1)
        return self.head(F.relu(self.second(x), inplace=True).flatten(1))


@program
def convolutional():
    return trained(Convolutional, see)


@program
def convolutional_trained():
    return trained(Convolutional, see, torch.optim.SGD, steps=2, lr=0.05)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.layer1, self.layer2 = Block(4), Block(4)
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.layer2(self.layer1(self.stem(x)))), 1))


@program
def resnet():
    return trained(ResNet, see)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.head = kind(3, 5, batch_first=True), nn.Linear(5, 2)

    def forward(self, x):
        out, _ = self.cell(x)
        return self.head(out[:, -1])


@program
def lstm():
    return trained(lambda: Recurrent(nn.LSTM), follow)


@program
def gru():
    return trained(lambda: Recurrent(nn.GRU), follow)


@program
def rnn():
    return trained(lambda: Recurrent(nn.RNN), follow)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        state = None
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
        return self.head(state[0])


@program
def lstm_cell_loop():
    return trained(Cells, follow)


@program
def transformer_encoder():
    return trained(
        lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        lambda model: model(noise(2, 4, 8)).square().mean(),
    )


@program
def transformer():
    return trained(
        lambda: nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True),
        lambda model: model(noise(2, 4, 8), noise(2, 3, 8, seed=1)).square().mean(),
    )


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = [t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(batch, length, width))


class GPT(nn.Module):
    def __init__(self, words=11, width=8):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(6, width)
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(width, 2), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, index):
        x = self.tokens(index) + self.positions(torch.arange(index.shape[1]))
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(x)


def predict(model):
    text = classes(12, 11).view(2, 6)
    return F.cross_entropy(model(text).view(-1, 11), text.roll(1, 1).view(-1))


@program
def gpt_with_tied_weights():
    return trained(GPT, predict)


@program
def gpt_trained():
    return trained(GPT, predict, torch.optim.AdamW, steps=2, lr=1e-3)


@program
def checkpointed_gpt():
    def loss_of(model):
        text = classes(12, 11).view(2, 6)
        x = model.tokens(text) + model.positions(torch.arange(6))
        x = x + checkpoint(lambda t: model.attention(model.norm1(t)), x, use_reentrant=False)
        x = x + checkpoint(lambda t: model.mlp(model.norm2(t)), x, use_reentrant=False)
        return F.cross_entropy(model.head(x).view(-1, 11), text.view(-1))

    return trained(GPT, loss_of)


@program
def reentrant_checkpoint():
    def loss_of(model):
        x = noise(5, 6).requires_grad_()
        return F.cross_entropy(model[2](checkpoint(model[:2], x, use_reentrant=True)), classes(5, 3))

    return trained(mlp, loss_of)
