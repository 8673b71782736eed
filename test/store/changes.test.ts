import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Change, ChangeFeed } from '../../src/store/index.ts'

const CHANGE: Change = { kind: 'site', id: 'a' }

test('publish resolves when every listener has taken the change in', async () => {
  const feed = new ChangeFeed()
  const taken: string[] = []
  feed.subscribe(async (change) => {
    await setImmediate()
    taken.push(`slow ${change.id}`)
  })
  feed.subscribe((change) => void taken.push(`quick ${change.kind}`))
  await feed.publish(CHANGE)
  assert.deepEqual(taken, ['quick site', 'slow a'])
})

test('a listener that has ended its subscription hears no more, the others do', async () => {
  const feed = new ChangeFeed()
  const heard: string[] = []
  const end = feed.subscribe(() => void heard.push('first'))
  feed.subscribe(() => void heard.push('second'))
  await feed.publish(CHANGE)
  end()
  end()
  await feed.publish(CHANGE)
  assert.deepEqual(heard, ['first', 'second', 'second'])
})

test('a change without listeners is over: one who comes later hears of the next only', async () => {
  const feed = new ChangeFeed()
  await feed.publish(CHANGE)
  const heard: string[] = []
  feed.subscribe(({ id }) => void heard.push(id))
  await feed.publish({ kind: 'site', id: 'b' })
  assert.deepEqual(heard, ['b'])
})
