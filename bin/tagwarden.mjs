#!/usr/bin/env node
// The one file of plain JavaScript in the program: it has to run before the first TypeScript is read. With Node's compile
// cache the stripped sources come from disk from the second start on; without it every thread loads the stripper, which
// takes 10 MB each. The folder is ours and not the temporary one, where others could put code; where it cannot be
// written, nothing is cached.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 16)) {
  // An older Node would fail at an import, with an error that says nothing of versions.
  console.error(`tagwarden: Node 22.16 or newer is needed, and this is ${process.versions.node} (https://nodejs.org)`)
  process.exit(1)
}
// Not imported by their names: an old Node does not have them, and would not come as far as this.
const { enableCompileCache, getCompileCacheDir } = nodeModule
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tagwarden'))
const folder = getCompileCacheDir()
// Worker threads take theirs from the environment.
if (folder !== undefined) process.env.NODE_COMPILE_CACHE = folder
// A package has no sources: Node strips no types below `node_modules`.
const hasSources = existsSync(join(import.meta.dirname, '../src/cli/index.ts'))
await import(hasSources ? '../src/cli/index.ts' : '../dist/server/cli.mjs')
