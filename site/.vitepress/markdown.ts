import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

const EXTERNAL = /^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i
/** Folders have no extension; a file that has none is named. */
const FILES_WITHOUT_EXTENSION: readonly string[] = ['LICENSE', 'Dockerfile', '.env.example']

/** Links of the docs to other files of the repository lead to its sources, or become words where no address is known. */
export function linksLeavingTheDocs(md: MarkdownRenderer, repository: string | null): void {
  md.core.ruler.push('links-leaving-the-docs', ({ tokens, env }) => {
    const { relativePath = '' } = env as { relativePath?: string }
    for (const { children } of tokens) {
      const words: boolean[] = []
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const address = sourceOf(relativePath, token.attrGet('href') ?? '')
          words.push(address !== null && repository === null)
          if (address !== null && repository !== null) token.attrSet('href', `${repository}/${address}`)
          if (words.at(-1) === true) [token.type, token.tag, token.attrs] = ['span_open', 'span', null]
        } else if (token.type === 'link_close' && words.pop() === true) {
          ;[token.type, token.tag] = ['span_close', 'span']
        }
      }
    }
  })
}

/** `blob/main/src/config.ts` of a link that leaves the docs or is no page of them, else null. */
function sourceOf(page: string, href: string): string | null {
  if (EXTERNAL.test(href)) return null
  const [path = '', anchor] = href.split('#')
  const file = posix.join('docs', posix.dirname(page), decodeURIComponent(path))
  const isPage = file.startsWith('docs/') && posix.extname(file) === '.md'
  if (isPage) return null
  const isFile = posix.extname(file) !== '' || FILES_WITHOUT_EXTENSION.includes(posix.basename(file))
  return `${isFile ? 'blob' : 'tree'}/main/${file}${anchor === undefined ? '' : `#${anchor}`}`
}

/** Takes the first heading off a page whose stage says it already. */
export function withoutTitle(md: MarkdownRenderer, page: string): void {
  md.core.ruler.push('without-title', ({ tokens, env }) => {
    const { relativePath } = env as { relativePath?: string }
    if (relativePath === page && tokens[0]?.tag === 'h1') tokens.splice(0, 3)
  })
}

/** The corner of a table that is named by its first row and its first column is no heading of anything. */
export function emptyHeadsAreCells(md: MarkdownRenderer): void {
  md.core.ruler.push('empty-heads-are-cells', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const [content, close] = tokens.slice(index + 1, index + 3)
      if (token.type !== 'th_open' || content?.content !== '' || close === undefined) continue
      token.tag = 'td'
      close.tag = 'td'
    }
  })
}
