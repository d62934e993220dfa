"""The server under test, through psql: one-off statements, and sessions that are timed."""
import os
import re
import subprocess

ALL_CORES = os.sched_getaffinity(0)
os.environ["PGOPTIONS"] = "-c client_min_messages=warning"
PSQL = [os.environ.get("PSQL", "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1"]


def run(sql, stdin=None):
    """Output of statements in a session of their own."""
    return subprocess.run(PSQL + ["-c", sql], input=stdin, stdout=subprocess.PIPE, text=True,
                          check=True).stdout


class Session:
    """One backend on one core, kept open, so that no start-up of a client or server is timed.
    core None: on any, and so are parallel workers."""
    END = "-- end of the answer --"

    def __init__(self, core=None):
        self.psql = subprocess.Popen(PSQL, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.execute("SET search_path = bench, kernelml; SET jit = off; "
                     "SET max_parallel_workers_per_gather = 0; \\timing on")
        self.pid = int(self.execute("SELECT pg_backend_pid()")[0])
        os.sched_setaffinity(self.pid, ALL_CORES if core is None else {core})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.psql.stdin.close()
        self.psql.stdout.close()
        self.psql.wait()

    def cpu_seconds(self):
        """Processor time that the backend has used; it is idle now, so the kernel's count is complete."""
        with open("/proc/%d/schedstat" % self.pid) as file:
            return int(file.read().split()[0]) / 1e9

    def private_bytes(self, total="VmRSS"):
        """Memory of the backend's own, neither a file's nor shared; VmHWM: at its peak so far."""
        with open("/proc/%d/status" % self.pid) as file:
            size = dict(line.split(":") for line in file)
        kilobytes = [int(size[name].split()[0]) for name in (total, "RssFile", "RssShmem")]
        return 1024 * (kilobytes[0] - kilobytes[1] - kilobytes[2])

    def execute(self, sql):
        """Output and seconds of one statement; the seconds are those of \\timing."""
        self.psql.stdin.write("%s\n;\n\\echo '%s'\n" % (sql, self.END))
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line.rstrip("\n") == self.END:
                break
            lines.append(line.rstrip("\n"))
        else:
            raise RuntimeError("the session ended at: " + sql)
        seconds = 0.0
        while lines and lines[-1].startswith("Time: "):
            seconds += float(re.match(r"Time: ([\d.]+) ms", lines.pop()).group(1)) / 1000
        return "\n".join(lines), seconds
