import assert from 'node:assert/strict'
import { test } from 'node:test'
import { worseTags } from '../../src/digests/write-digest.ts'

const tag = (tag_key: string, executions: number, success_rate: number | null) => ({
  tag_key,
  executions,
  success_rate,
})

test('a tag got worse when it ran often enough in both periods and lost a point or more', () => {
  const before = [
    tag('one point', 50, 0.99),
    tag('less than a point', 50, 0.99),
    tag('better', 50, 0.9),
    tag('rare before', 49, 1),
    tag('rare now', 50, 1),
    tag('gone', 50, 1),
    tag('unknown', 50, null),
  ]
  const now = [
    tag('one point', 50, 0.98),
    tag('less than a point', 50, 0.981),
    tag('better', 50, 0.95),
    tag('rare before', 50, 0.5),
    tag('rare now', 49, 0.5),
    tag('new', 50, 0),
    tag('unknown', 50, 0),
  ]
  assert.deepEqual(worseTags(now, before), [{ tag_key: 'one point', success_rate: 0.98, success_rate_before: 0.99 }])
})

test('the five worst tags are named, the worst first, equals by name', () => {
  const losses = { b: 0.2, a: 0.2, c: 0.5, d: 0.1, e: 0.05, f: 0.04, g: 0.03 }
  const before = Object.keys(losses).map((key) => tag(key, 100, 1))
  const now = Object.entries(losses).map(([key, loss]) => tag(key, 100, 1 - loss))
  assert.deepEqual(
    worseTags(now, before).map(({ tag_key }) => tag_key),
    ['c', 'a', 'b', 'd', 'e'],
  )
})
