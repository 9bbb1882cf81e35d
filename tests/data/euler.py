"""A spring, 300 steps of Euler's method, and how its end depends on the stiffness."""

import autodiff_lab as lab

DT = 0.01
stiffness = lab.Variable(2.0, name="stiffness")

with lab.GradientTape() as tape:
    position, speed = lab.constant(1.0), lab.constant(0.0)
    for _ in range(300):
        speed = speed - DT * stiffness * position
        position = position + DT * speed
    loss = (position - 0.5) ** 2
slope = tape.gradient(loss, stiffness)
