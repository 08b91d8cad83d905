"""Figures and tables that are not rebuilt here, and why: mostly data or trained networks that are not here."""

from __future__ import annotations

from .displays import Display

IMAGES = "it needs the images of {data}, which do not come with fedaudit, and {what}; nothing here stands in for it"


def _needs(identifier: str, name: str, where: str, shows: str, data: str, what: str) -> Display:
    return Display(identifier, name, where, shows, missing=IMAGES.format(data=data, what=what))


DRAWING = "it is a drawing of the setting, and claims nothing"
NETWORK = "a convolutional network trained on them"
TRAINED = "hours of training on a graphics card"
DISPLAYS = (
    Display(
        "benmansour/fig1", "figure 1", "section 1", "The classic federated setting, as a drawing.", missing=DRAWING
    ),
    _needs(
        "benmansour/fig2",
        "figures 2 to 5 and tables 3 and 4",
        "section 3.2",
        "Accuracy over the rounds of FedAvg and FedSoftMax, the rounds to 90 % accuracy, temperatures, and stability.",
        "MNIST",
        NETWORK,
    ),
    _needs(
        "buttaci/fig3.1",
        "figures 3.1 and 3.2",
        "section 3.4.2",
        "Samples of two data sets.",
        "CIFAR10 and FEMNIST",
        "they claim nothing",
    ),
    _needs(
        "buttaci/fig4.5",
        "figures 4.2 to 4.8 and table 4.2",
        "section 4.5",
        "Loss and accuracy on unseen clients of FedAvg and of the perturbed method, over local steps, step sizes and"
        " clipped gradients.",
        "FEMNIST and CIFAR10",
        TRAINED,
    ),
    _needs(
        "fallah/fig1",
        "figure 1 and table 1",
        "section 5 and appendix",
        "Test accuracy after personalisation, by method.",
        "MNIST and CIFAR-10",
        "a network trained on them",
    ),
    _needs(
        "yuan/fig2",
        "figures 1 and 2",
        "section 5",
        "Samples and rounds that FedMSPP, FedProx and FedAvg need for a test accuracy.",
        "MNIST, FEMNIST and Sent140",
        "models trained on them",
    ),
    Display("zhang/fig1", "figure 1", "section 2", "Algorithm 1 as a block diagram.", missing=DRAWING),
    _needs(
        "zhang/fig4",
        "figure 4",
        "section 4.2",
        "Test accuracy over the rounds of algorithm 1 and FedDA, tau = 5 and 10.",
        "MNIST",
        NETWORK,
    ),
)
