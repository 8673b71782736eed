import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { brokenLinks } from '../../scripts/doc-links.ts'
import { tempDir } from '../../testkit/engines.ts'

const GUIDE = `# The guide

## What \`serve\` does

## Twice
## Twice

\`\`\`md
# Not a heading
\`\`\`
`

const CASES: readonly [link: string, problem: string | null][] = [
  ['[a file](docs/guide.md)', null],
  ['[a folder](docs)', null],
  ['![a picture](docs/missing.png)', 'no such file'],
  ['[a file](docs/missing.md)', 'no such file'],
  ['[a heading](docs/guide.md#the-guide)', null],
  ['[code in a heading](docs/guide.md#what-serve-does)', null],
  ['[a repeated heading](docs/guide.md#twice-1)', null],
  ['[a heading](docs/guide.md#missing)', 'no such heading'],
  ['[a line of a code block](docs/guide.md#not-a-heading)', 'no such heading'],
  ['[the same file](#missing)', 'no such heading'],
  ['[a neighbour](../neighbour/README.md)', 'leaves the repository'],
  ['[the web](https://example.com/missing.md)', null],
  ['[mail](mailto:ops@example.com)', null],
  ['`[in code](missing.md)`', null],
  ['```\n[in a block](missing.md)\n```', null],
]

for (const [link, problem] of CASES) {
  test(`${link.replaceAll('\n', ' ')} ${problem === null ? 'is fine' : `is reported: ${problem}`}`, async (t) => {
    const top = await tempDir(t)
    await mkdir(join(top, 'docs'))
    await writeFile(join(top, 'docs/guide.md'), GUIDE)
    await writeFile(join(top, 'README.md'), `${link}\n`)
    assert.deepEqual(
      brokenLinks(top).map((broken) => [broken.file, broken.line, broken.problem]),
      problem === null ? [] : [['README.md', 1, problem]],
    )
  })
}
