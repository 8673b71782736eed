#!/usr/bin/env node
// The one file of plain JavaScript in the program: it must run before the first TypeScript is read. With Node's compile
// cache the stripped sources are read from disk from the second start on; without it every thread would load the
// stripper, which costs 10 MB each and a third of the start.
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tagwarden'))
// Worker threads take theirs from the environment.
process.env.NODE_COMPILE_CACHE = getCompileCacheDir() ?? ''
await import('../src/cli/index.ts')
