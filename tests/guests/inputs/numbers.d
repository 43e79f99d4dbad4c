// The same by std.conv.
import std.conv, std.process, std.stdio, std.string;

void main(string[] arguments)
{
    double a = to!double(arguments[$ - 2]), w = environment["SG_W"].to!double, s, t;
    const pair = readln().split;
    s = pair[0].to!double;
    t = pair[1].to!double;
    double sum = a * a + w * s * t;
    auto file = File(arguments[$ - 1]);
    file.readln();
    immutable rows = file.readln().strip.to!int;
    foreach (i; 0 .. rows)
    {
        const words = file.readln().split;
        immutable p = words[0].to!double;
        immutable q = words[1].to!float;
        sum += (i + 1) * p * p * q;
    }
    writefln("%.17g", sum);
}
