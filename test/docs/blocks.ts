import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from '../../testkit/repository.ts'

/** A block of shell commands in the docs. */
export interface Block {
  /** `docs/tag.md: curl -OJ …`: its file and first line. */
  name: string
  text: string
}

/** Every block that is marked as shell, in the order of the pages. */
export function shellBlocks(): Block[] {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: REPOSITORY }).sort()]
  return pages.flatMap(
    (page) =>
      readFileSync(join(REPOSITORY, page), 'utf8')
        .split('\n')
        .reduce<{ blocks: Block[]; lines: string[] | null }>(
          ({ blocks, lines }, line) => {
            const text = line.trim()
            if (lines === null) return { blocks, lines: /^```(?:sh|bash|shell)$/.test(text) ? [] : null }
            if (text !== '```') {
              lines.push(line)
              return { blocks, lines }
            }
            blocks.push({ name: `${page}: ${lines[0]?.trim() ?? ''}`, text: lines.join('\n') })
            return { blocks, lines: null }
          },
          { blocks: [], lines: null },
        ).blocks,
  )
}
