import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const TEXT = new Set(['.js', '.css', '.svg'])
/** A smaller file fits into the first packets as it is, bytes. */
const WORTH_IT = 1_024

/** Writes `.br` and `.gz` beside every text file of the build, at the highest level: it is done once and sent often. The kit is built for one test. */
export function precompress(): Plugin {
  let folder = ''
  return {
    name: 'tagwarden:precompress',
    apply: (_config, { command, mode }) => command === 'build' && mode !== 'kit',
    configResolved(config) {
      folder = config.build.outDir
    },
    async writeBundle() {
      const files = await readdir(folder, { recursive: true })
      await Promise.all(files.filter((file) => TEXT.has(extname(file))).map((file) => compress(join(folder, file))))
    },
  }
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file)
  if (content.length < WORTH_IT) return
  const [br, gz] = await Promise.all([promisify(brotliCompress)(content), promisify(gzip)(content, { level: 9 })])
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)])
}
