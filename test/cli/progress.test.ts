import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { withProgress } from '../../src/cli/progress.ts'

function collect(isTTY: boolean) {
  const chunks: string[] = []
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  stream.on('data', (chunk: Buffer) => chunks.push(String(chunk)))
  return { stream, text: () => chunks.join('') }
}

test('without a terminal there is a plain line at most every 10 %', async () => {
  const { stream, text } = collect(false)
  const result = await withProgress(
    'copying',
    1_000,
    async (update) => {
      for (let done = 0; done <= 1_000; done++) update(done)
      return 'done'
    },
    stream,
  )
  assert.equal(result, 'done')
  const lines = Array.from({ length: 10 }, (_, tenth) => `copying: ${(tenth + 1) * 10} %\n`)
  assert.equal(text(), lines.join(''))
})

test('work that comes in leaps and ends early still ends at 100 %', async () => {
  const { stream, text } = collect(false)
  await withProgress('copying', 30, async (update) => update(14), stream)
  assert.equal(text(), 'copying: 40 %\ncopying: 100 %\n')
})

test('on a terminal there is a bar, and it is taken down when the work fails', async () => {
  const { stream, text } = collect(true)
  const work = withProgress(
    'copying',
    10,
    async (update) => {
      update(5)
      throw new Error('disk full')
    },
    stream,
  )
  await assert.rejects(work, /disk full/)
  assert.match(text(), /copying .*░/)
  assert.ok(text().endsWith('\n'))
})

test('the bar changes no mode of the terminal, as nothing would change it back after Ctrl-C', async () => {
  const { stream, text } = collect(true)
  await withProgress('copying', 10, async (update) => update(5), stream)
  // A mode is set and reset by ESC [ ? number h or l.
  assert.ok(!text().includes('\u001b[?'))
})

test('work that turns out to be none is done', async () => {
  const { stream, text } = collect(false)
  await withProgress('copying', 0, async (update) => update(0), stream)
  assert.equal(text(), 'copying: 100 %\n')
})
