import { globSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Parser } from 'htmlparser2'

/** Limit for the home page's first load, compressed and without images, bytes. */
export const MOST_FIRST_LOAD = 150_000

/** A broken reference on a page. */
export interface SiteFault {
  page: string
  problem: string
}

interface Page {
  ids: ReadonlySet<string>
  /** Addresses of links, images, styles and scripts. */
  targets: readonly string[]
  /** Those that a browser loads at once, without images. */
  loaded: readonly string[]
}

const EXTERNAL = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

function read(html: string): Page {
  const [ids, targets, loaded] = [new Set<string>(), [] as string[], [] as string[]]
  const parser = new Parser({
    onopentag(name, { id, href, src, rel = '' }) {
      if (id !== undefined) ids.add(id)
      for (const target of [href, src]) if (target !== undefined && target !== '') targets.push(target)
      const isLoaded = name === 'script' || /\b(?:stylesheet|modulepreload|preload)\b/.test(rel)
      if (isLoaded) loaded.push(...[href, src].filter((target) => target !== undefined))
    },
  })
  parser.end(html)
  return { ids, targets, loaded }
}

/**
 * Every broken internal link, anchor, image, style and script of a built site.
 *
 * @param dist where it was built
 * @param base the folder on the host, with a slash at both ends
 */
export function siteFaults(dist: string, base: string): SiteFault[] {
  const files = globSync('**/*.html', { cwd: dist }).sort()
  const pages = new Map(files.map((file) => [file, read(readFileSync(join(dist, file), 'utf8'))]))
  return [...pages].flatMap(([page, { targets }]) =>
    targets.flatMap((target) => {
      const problem = EXTERNAL.test(target) ? null : problemWith(dist, base, pages, page, target)
      return problem === null ? [] : [{ page, problem: `${target} ${problem}` }]
    }),
  )
}

function problemWith(
  dist: string,
  base: string,
  pages: ReadonlyMap<string, Page>,
  page: string,
  target: string,
): string | null {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : fileOf(base, page, path)
  if (file === null) return 'leaves the site'
  if (!statSync(join(dist, file), { throwIfNoEntry: false })?.isFile()) return 'is not there'
  if (anchor === undefined || anchor === '') return null
  return pages.get(file)?.ids.has(decodeURIComponent(anchor)) === true ? null : 'has no such anchor'
}

/** The file behind an address; null when it lies outside `base`. */
function fileOf(base: string, page: string, address: string): string | null {
  const [path = ''] = address.split('?')
  const absolute = posix.resolve('/', posix.join(base, posix.dirname(page)), decodeURIComponent(path))
  const inBase = `${absolute}/`.startsWith(base) ? absolute.slice(base.length) : null
  if (inBase === null) return null
  return path.endsWith('/') || inBase === '' ? posix.join(inBase, 'index.html') : inBase
}

/** The first load of a page: itself, its styles and scripts, each compressed. Images are left out, because they load lazily. */
export function firstLoadOf(dist: string, page: string, base: string): { bytes: number; files: number } {
  const html = readFileSync(join(dist, page), 'utf8')
  const files = [...new Set(read(html).loaded)]
    .filter((target) => !EXTERNAL.test(target))
    .map((target) => fileOf(base, page, target))
    .filter((file) => file !== null)
  const contents = [html, ...files.map((file) => readFileSync(join(dist, file)))]
  return { bytes: contents.reduce((sum, content) => sum + gzipSync(content).length, 0), files: contents.length }
}
