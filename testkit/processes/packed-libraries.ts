import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keepFolder } from '../kept-folder.ts'
import { REPOSITORY } from '../repository.ts'

/** Libraries of several hundred files each, by their import name. */
const LIBRARIES: Readonly<Record<string, string>> = {
  kysely: 'kysely',
  'kysely/migration': 'kysely-migration',
  typebox: 'typebox',
  'typebox/schema': 'typebox-schema',
}
const CACHE = join(REPOSITORY, 'node_modules/.cache/tagwarden-packed')
/** The variable with the path of the module, for processes that tests start. */
const MODULE = 'TAGWARDEN_TEST_PACKED'

/**
 * Packs each library into one file, for this process's children. Their 600 files are most of what a start of the program loads and a sixth of
 * its processor time. Kept until the installed packages change.
 *
 * @returns the Node options with which a process uses them
 */
export async function packLibraries(): Promise<string[]> {
  const lock = await readFile(join(REPOSITORY, 'package-lock.json'))
  const folder = join(CACHE, createHash('sha256').update(lock).digest('hex').slice(0, 16))
  const entry = join(folder, 'import.mjs')
  await keepFolder(folder, (part) => packInto(part, folder))
  process.env[MODULE] = entry
  return withPackedLibraries()
}

/** The same options in a test process; empty if the run has not packed the libraries. */
export function withPackedLibraries(): string[] {
  const entry = process.env[MODULE]
  return entry === undefined ? [] : ['--import', pathToFileURL(entry).href]
}

/** @param folder the final place of `part` */
async function packInto(part: string, folder: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: REPOSITORY,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      minify: false,
      outDir: part,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(LIBRARIES).map(([name, file]) => [file, name])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
        preserveEntrySignatures: 'strict',
      },
    },
  })
  await writeFile(join(part, 'import.mjs'), moduleFor(folder))
}

/** Plain JavaScript, because it is loaded first and TypeScript would load the type stripping. */
function moduleFor(folder: string): string {
  const files = Object.entries(LIBRARIES).map(([name, file]) => [name, pathToFileURL(join(folder, `${file}.mjs`)).href])
  return `import { registerHooks } from 'node:module'
const files = new Map(${JSON.stringify(files)})
registerHooks({
  resolve(specifier, context, next) {
    const url = files.get(specifier)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
})
`
}
