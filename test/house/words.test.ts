import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
/** What [style.md](../../docs/style.md) replaces, where no sentence of ours needs it. */
const REPLACED =
  /\b(anew|whoever|whose ever|brings forth|ended badly|hears? of|nobody is told|(nothing|no one) has this address|hands out version|judges from|take a larger plan)\b/i
/** Migrations that were released stay as they are. */
const PLACES = ['*.md', 'docs', 'src', 'web', 'site', 'testkit', 'bench', 'trials', 'tag', 'scripts']
const LEFT_OUT = [':!docs/style.md', ':!src/store/migrations']

const isReplaced = (line: string): boolean => REPLACED.test(line)

test('docs, screens, messages and comments have none of the words that the style guide replaces', () => {
  const files = execFileSync('git', ['ls-files', '--', ...PLACES, ...LEFT_OUT], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(md|tsx?|vue|tpl)$/.test(file))
  assert.ok(files.length > 1_000, `${files.length} files`)
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (isReplaced(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  )
  assert.deepEqual(found, [])
})

for (const line of [
  'Whoever asks gets it',
  'what it hears of',
  'begins anew',
  'Nothing has this address',
  'Learning, judges from 29 Nov',
]) {
  test(`"${line}" has a word that the style guide replaces`, () => {
    assert.ok(isReplaced(line))
  })
}
