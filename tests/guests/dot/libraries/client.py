# A product of numbers that the script itself names as inputs, and as an output.
import shadowgrind

x = shadowgrind.input("x", 3.0)
y = shadowgrind.input("y", 4.0)
shadowgrind.output("area", x * y * y)
assert shadowgrind.mode() in (shadowgrind.NATIVE, shadowgrind.ADJOINT)
