{ The same by Pascal's val and read, and by StrToFloat. }
program numbers;
uses sysutils;
var
  f: text;
  a, w, s, t, p, total: double;
  q: single;
  rows, i, code: integer;
begin
  val(paramstr(paramcount - 1), a, code);
  w := StrToFloat(GetEnvironmentVariable('SG_W'));
  read(s, t);
  total := a * a + w * s * t;
  assign(f, paramstr(paramcount));
  reset(f);
  readln(f);
  readln(f, rows);
  for i := 1 to rows do
  begin
    readln(f, p, q);
    total := total + i * p * p * q;
  end;
  writeln(total:0:15);
end.
