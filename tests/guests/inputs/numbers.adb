--  The same by Long_Float'Value and Ada.Text_IO's Get.
with Ada.Command_Line;
with Ada.Environment_Variables;
with Ada.Float_Text_IO;
with Ada.Long_Float_Text_IO;
with Ada.Text_IO;

procedure Numbers is
   use Ada.Command_Line, Ada.Text_IO;
   A : constant Long_Float := Long_Float'Value (Argument (Argument_Count - 1));
   W : constant Long_Float := Long_Float'Value (Ada.Environment_Variables.Value ("SG_W"));
   S, T, P, Sum : Long_Float;
   Q : Float;
   File : File_Type;
   Rows : Integer;
begin
   Ada.Long_Float_Text_IO.Get (S);
   Ada.Long_Float_Text_IO.Get (T);
   Sum := A * A + W * S * T;
   Open (File, In_File, Argument (Argument_Count));
   Skip_Line (File);
   Rows := Integer'Value (Get_Line (File));
   for I in 1 .. Rows loop
      Ada.Long_Float_Text_IO.Get (File, P);
      Ada.Float_Text_IO.Get (File, Q);
      Sum := Sum + Long_Float (I) * P * P * Long_Float (Q);
   end loop;
   Ada.Long_Float_Text_IO.Put (Sum, Aft => 11, Exp => 0);
   New_Line;
end Numbers;
