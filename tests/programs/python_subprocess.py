# Python's subprocess: pipes, status, timeouts, signals, working directory, and children that are Python themselves.
#@ run system: /usr/bin/python3 {file}
#@ run path: python3 {file}
import os, signal, subprocess, sys

print(subprocess.run(["echo", "one"], capture_output=True, text=True).stdout)
print(subprocess.run("exit 5", shell=True).returncode)
print(subprocess.check_output(["sort", "-n"], input="3\n1\n2\n", text=True))
try:
    subprocess.run(["sleep", "10"], timeout=0.1)
except subprocess.TimeoutExpired as e:
    print("timeout", e.cmd)
try:
    subprocess.run(["/nonexistent/program"])
except FileNotFoundError as e:
    print(e.errno)
child = subprocess.Popen(["sleep", "100"])
child.send_signal(signal.SIGTERM)
print(child.wait())
first = subprocess.Popen(["seq", "1", "1000"], stdout=subprocess.PIPE)
second = subprocess.Popen(["grep", "-c", "7"], stdin=first.stdout, stdout=subprocess.PIPE, text=True)
first.stdout.close()
print(second.communicate()[0], first.wait())
program = "import sys; print(sum(map(int, sys.argv[1:]))); sys.exit(3)"
done = subprocess.run([sys.executable, "-c", program, "1", "2", "3"], capture_output=True, text=True, cwd="/")
print(done.stdout, done.returncode)
print(subprocess.run(["env"], env={"ONLY": "this"}, capture_output=True, text=True).stdout)
print(subprocess.run(["cat"], stdin=open(__file__), capture_output=True, close_fds=True).returncode)
print(os.system("exit 4") >> 8, os.popen("echo popen").read())
