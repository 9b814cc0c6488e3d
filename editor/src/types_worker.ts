// The compiler, in a thread of its own.
import { createWorker } from "@valtown/codemirror-ts/worker";
import { expose } from "comlink";
import libraries from "virtual:libraries";
import { createEnvironment } from "./environment";

const worker = {
  ...createWorker(() => createEnvironment(libraries)),
  closeFile(path: string) {
    this.getEnv().deleteFile(path);
  },
};

export type TypesWorker = typeof worker;

expose(worker);
