import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'vite'

const REPOSITORY = join(import.meta.dirname, '..')
/** The folder of the bundle in the package, on which paths to files beside the sources are based. */
export const PLACE = 'dist/server'

/** Libraries that read files of their own at run time; the package depends on them. */
export const UNBUNDLED = ['@fastify/swagger-ui']

/** The file in a Vite build that lists the packages in it with their licence texts. */
export const LICENCES = '.vite/licences.json'

/** Source maps with names and lines for stack traces, but without the sources, which would double their size. */
const MAPS = { sourcemapExcludeSources: true }

export interface BundleOptions {
  /** Whether to add source maps and licence texts, which tests leave out because they take a third of the time. */
  isPublished?: boolean
}

/**
 * Bundles the program with its libraries into a few JavaScript files, because Node strips no types below `node_modules`. Starting it takes
 * two thirds of the processor time of the sources, and 55 MB less memory (`npm run package`, Node 24).
 *
 * @param folder receives the entry `cli.mjs`; created if missing, emptied otherwise
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

/** `new URL('./worker.ts', import.meta.url)`: the entry of a thread, or a module that one loads. */
const THREAD = /new URL\('(\.[\w./-]+\.ts)', import\.meta\.url\)/g
const FOLDER = /\bimport\.meta\.dirname\b/g

/** Keeps `import.meta` right in the bundle: thread entries become files of the bundle, and folders are those of the sources. */
function fromItsNewPlace(): Plugin {
  const fromPlace = (path: string) => relative(join(REPOSITORY, PLACE), path).replaceAll('\\', '/')
  return {
    name: 'from-its-new-place',
    // Run before types are stripped, which changes the code's format.
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

/** A UTF-16 code unit that is not ASCII, so a surrogate pair matches as two. */
const NOT_ASCII = /[\u0080-\uffff]/g

/**
 * Escapes everything that is not ASCII. V8 keeps the source text of loaded files in memory, with two bytes per character if a single one
 * needs them. This is safe because no template here is raw (`String.raw`), where an escape would stay as it is.
 */
function inAscii(): Plugin {
  return {
    name: 'in-ascii',
    // Use the last hook, because the printing after `renderChunk` would undo the escapes.
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk') file.code = file.code.replace(NOT_ASCII, escaped)
      }
    },
  }
}

const escaped = (one: string): string => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
