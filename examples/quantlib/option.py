"""Price of a European call: option.py SPOT STRIKE RATE VOLATILITY"""
import sys

import QuantLib as ql

spot, strike, rate, volatility = map(float, sys.argv[1:])
today = ql.Date(1, 6, 2024)
ql.Settings.instance().evaluationDate = today
days = ql.Actual365Fixed()
process = ql.BlackScholesProcess(
    ql.QuoteHandle(ql.SimpleQuote(spot)),
    ql.YieldTermStructureHandle(ql.FlatForward(today, rate, days)),
    ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), volatility, days)),
)
option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, strike), ql.EuropeanExercise(ql.Date(1, 6, 2025)))
option.setPricingEngine(ql.BinomialVanillaEngine(process, "crr", 201))
print("binomial =", option.NPV())
option.setPricingEngine(ql.AnalyticEuropeanEngine(process))
print("analytic =", option.NPV())
print("vega =", option.vega())
