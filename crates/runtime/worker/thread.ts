// What a thread loads before its val's module.

import { reachInstance } from "./instance.ts";
import { reachInstanceFromThreads } from "./threads.ts";

/** How the instance is reached, as the main thread knows it. */
declare const instance: { origins: string[]; socket: string };

reachInstance(instance.origins, instance.socket);
reachInstanceFromThreads(() => import.meta.url);
