# The same by Python.
large = [1e16, 3e22, 1e16, 2.0**60, 1e40, 1e12]
small = [1.2345, -9.5, 999.9996, 0.0009765625, 1.5e20, 1e-7]
for big, right in zip(large, small):
    wrong = (big + right) - big
    print(f"w=[{wrong}] r={{{right}}}")
    print("w=[%r] r={%r}" % (wrong, right))
    for how in ["f", ".0f", ".3f", "e", ".2E", "g", ".3g", "#.4g", ".17g", ".5"]:
        text = "w=[{:%s}] r={{{:%s}}}" % (how, how)
        print(text.format(wrong, right))
    print("w=[%.3f] r={%.3f}" % (wrong, right))
