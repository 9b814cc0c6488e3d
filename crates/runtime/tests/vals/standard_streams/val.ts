const bytes = (text: string) => new TextEncoder().encode(text);
Deno.stdout.writeSync(bytes('one\ntwo'));
Deno.stderr.writeSync(bytes('three\n'));
