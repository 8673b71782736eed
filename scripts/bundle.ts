import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'vite'

const REPOSITORY = join(import.meta.dirname, '..')
/** Where the files lie in the package: paths to what is beside the sources are taken from there. */
export const PLACE = 'dist/server'

/** What has files of its own that it reads while it runs; the package depends on it. */
export const UNBUNDLED = ['@fastify/swagger-ui']

/** Whose work is in a build of Vite's, with the texts of their licences: from the top of what was built. */
export const LICENCES = '.vite/licences.json'

/** Names and lines for stack traces, without the sources themselves, which are half of it. */
const MAPS = { sourcemapExcludeSources: true }

export interface BundleOptions {
  /** With source maps and the texts of licences: for tests they would be a third of the time. */
  isPublished?: boolean
}

/**
 * Bundles the program with its libraries into a few files of JavaScript: Node strips no types below `node_modules`. A start takes two
 * thirds of the processor time that it needs with the sources, and 55 MB less (`npm run package`, Node 24).
 *
 * @param folder receives `cli.mjs`, the entry, with source maps; made if it is missing, emptied if not
 */
export async function bundle(folder: string, { isPublished = true }: BundleOptions = {}): Promise<void> {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: REPOSITORY,
    logLevel: 'warn',
    plugins: [fromItsNewPlace(), inAscii()],
    ssr: { noExternal: true, external: UNBUNDLED },
    build: {
      ssr: true,
      target: 'node22',
      minify: false,
      sourcemap: isPublished,
      outDir: folder,
      emptyOutDir: true,
      license: isPublished && { fileName: LICENCES },
      rolldownOptions: {
        input: { cli: join(REPOSITORY, 'src/cli/index.ts') },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs', comments: false, ...MAPS },
      },
    },
  })
}

/** `new URL('./worker.ts', import.meta.url)`: the entry of a thread, or what one loads. */
const THREAD = /new URL\('(\.[\w./-]+\.ts)', import\.meta\.url\)/g
const FOLDER = /\bimport\.meta\.dirname\b/g

/** What modules say of where they are holds in the bundle, too: entries of threads are files of it, and folders are those of the sources. */
function fromItsNewPlace(): Plugin {
  const fromPlace = (path: string) => relative(join(REPOSITORY, PLACE), path).replaceAll('\\', '/')
  return {
    name: 'from-its-new-place',
    // Before types are stripped, which changes how code is written.
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(join(REPOSITORY, 'src')) || !code.includes('import.meta')) return null
      const withThreads = code.replace(THREAD, (_, path: string) => {
        const file = join(dirname(id), path)
        const name = relative(join(REPOSITORY, 'src'), file).replaceAll(/[\\/]/g, '-').replace(/\.ts$/, '.mjs')
        this.emitFile({ type: 'chunk', id: file, fileName: name, preserveSignature: 'strict' })
        return `new URL('./${name}', import.meta.url)`
      })
      const folder = `(import.meta.dirname + ${JSON.stringify(`/${fromPlace(dirname(id))}`)})`
      return { code: withThreads.replace(FOLDER, () => folder), map: null }
    },
  }
}

/** A character that is not ASCII, as V8 counts: half of a pair where it takes two. */
const NOT_ASCII = /[\u0080-\uffff]/g

/**
 * Writes all that is not ASCII as escapes: V8 keeps the text of what it has loaded, and takes two bytes a character where a single one of a
 * file needs them. No text here is raw, where an escape would mean itself.
 */
function inAscii(): Plugin {
  return {
    name: 'in-ascii',
    // The last hook: what writes the code after `renderChunk` would take the escapes back.
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk') file.code = file.code.replace(NOT_ASCII, escaped)
      }
    },
  }
}

const escaped = (one: string): string => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
