const { VICTIM_PID, SERVER_PID } = Deno.env.toObject();
const sent: string[] = [];
for (const pid of [VICTIM_PID, SERVER_PID, "1", "0", "-1", `-${VICTIM_PID}`, `${Deno.ppid}`, `${Deno.pid}`]) {
  for (const signal of ["SIGKILL", "SIGSTOP", "SIGTERM"] as const) {
    for (const kill of [Deno.kill, process.kill.bind(process)]) {
      try {
        kill(Number(pid), signal);
        sent.push(`${signal} to ${pid}`);
      } catch {
        // Refused.
      }
    }
  }
}
export default sent;
