{ sqrt(x + 1) - sqrt(x) in Pascal: what it writes a double by takes long doubles. }
program root_difference;
var
  x, d: double;
  code: integer;
begin
  val(paramstr(1), x, code);
  d := sqrt(x + 1) - sqrt(x);
  writeln(d); { PRINTED
}
end.
