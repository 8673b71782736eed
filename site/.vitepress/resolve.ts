import { join } from 'node:path'
import type { Plugin } from 'vite'

const PAGES = join(import.meta.dirname, '../../docs/')
const VUE = /^(?:vue|@vue\/server-renderer|vue\/server-renderer)$/

/** Pages lie outside this folder, and Vue, which they are compiled for, is installed in it. */
export const resolvesFromHere = (): Plugin => ({
  name: 'resolves-from-here',
  enforce: 'pre',
  resolveId(source, importer, options) {
    if (!VUE.test(source)) return null
    // What renders the pages' text is written into this folder, and has to share one Vue with the renderer.
    if (options.ssr === true) return { id: source, external: true }
    if (importer?.startsWith(PAGES) !== true) return null
    return this.resolve(source, join(import.meta.dirname, 'config.ts'), { ...options, skipSelf: true })
  },
})
