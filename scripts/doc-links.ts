import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** A broken link in a Markdown file. */
export interface BrokenLink {
  file: string
  line: number
  target: string
  problem: string
}

const LINK = /!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)/g
const EXTERNAL = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

/** The broken relative links and heading anchors in all Markdown files under a folder. */
export function brokenLinks(top: string): BrokenLink[] {
  const files = globSync('**/*.md', { cwd: top, exclude: ['**/node_modules', '.git', 'data', 'dist', '.work'] })
  return files.sort().flatMap((file) => brokenLinksOf(top, file))
}

function brokenLinksOf(top: string, file: string): BrokenLink[] {
  const broken: BrokenLink[] = []
  for (const [index, text] of linesOutsideFences(readFileSync(join(top, file), 'utf8')).entries()) {
    for (const [, target = ''] of text.replace(/`[^`]*`/g, '').matchAll(LINK)) {
      const problem = EXTERNAL.test(target) ? null : problemWith(top, file, target)
      if (problem !== null) broken.push({ file, line: index + 1, target, problem })
    }
  }
  return broken
}

function problemWith(top: string, file: string, target: string): string | null {
  const [path = '', anchor] = target.split('#')
  const linked = path === '' ? join(top, file) : join(top, dirname(file), decodeURIComponent(path))
  if (relative(top, linked).startsWith('..')) return 'leaves the repository'
  if (!existsSync(linked)) return 'no such file'
  if (anchor === undefined || !linked.endsWith('.md')) return null
  return anchorsOf(readFileSync(linked, 'utf8')).has(anchor) ? null : 'no such heading'
}

/** The anchors that GitHub gives to headings: lower case, no punctuation, hyphens for spaces, repeats numbered. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const line of linesOutsideFences(markdown)) {
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1]
    if (heading === undefined) continue
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = slug
    for (let repeat = 1; anchors.has(anchor); repeat++) anchor = `${slug}-${repeat}`
    anchors.add(anchor)
  }
  return anchors
}

/** The lines of a Markdown text, with those in code blocks emptied, because they contain no links or headings. */
function linesOutsideFences(markdown: string): string[] {
  let fence: string | null = null
  return markdown.split('\n').map((line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (mark === undefined) return fence === null ? line : ''
    if (fence === null) fence = mark
    else if (mark.startsWith(fence)) fence = null
    return ''
  })
}
