#!/usr/bin/env node
// The one file of plain JavaScript in the program: it has to run before the first TypeScript is read. With Node's compile
// cache the stripped sources come from disk from the second start on; without it every thread loads the stripper, which
// takes 10 MB each. The folder is ours and not the temporary one, where others could put code; where it cannot be
// written, nothing is cached.
import { existsSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tagwarden'))
const folder = getCompileCacheDir()
// Worker threads take theirs from the environment.
if (folder !== undefined) process.env.NODE_COMPILE_CACHE = folder
// A package has no sources: Node strips no types below `node_modules`.
const hasSources = existsSync(join(import.meta.dirname, '../src/cli/index.ts'))
await import(hasSources ? '../src/cli/index.ts' : '../dist/server/cli.mjs')
