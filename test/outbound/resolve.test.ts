import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf, lookupIn, testOutbound } from './support.ts'

const NAMES = { 'a.example': ['93.184.215.14', '2606:4700::1'], 'inner.example': ['10.0.0.1'], 'none.example': [] }

test('a name is resolved to its addresses, and to its aliases when requested', async () => {
  const aliases = lookupIn({ 'a.example': ['B.example.'], 'b.example': ['c.example'] })
  const outbound = testOutbound('', NAMES, undefined, aliases)
  const { addresses } = await outbound.resolve('a.example')
  assert.deepEqual(addresses, ['93.184.215.14', '2606:4700::1'])
  assert.deepEqual((await outbound.resolve('a.example')).aliases, [])
  assert.deepEqual((await outbound.resolve('a.example', { wantsAliases: true })).aliases, ['b.example', 'c.example'])
})

test('a loop of aliases ends', async () => {
  const aliases = lookupIn({ 'a.example': ['b.example'], 'b.example': ['a.example'] })
  const outbound = testOutbound('', NAMES, undefined, aliases)
  assert.equal((await outbound.resolve('a.example', { wantsAliases: true })).aliases.length, 8)
})

test('an internal address of a name is not revealed', async () => {
  const failure = await failureOf(testOutbound('', NAMES).resolve('inner.example'))
  assert.equal(failure.kind, 'forbidden_address')
  assert.doesNotMatch(failure.message, /10\.0\.0\.1/)
  assert.deepEqual((await testOutbound('10.0.0.0/8', NAMES).resolve('inner.example')).addresses, ['10.0.0.1'])
})

test('a name that leads nowhere fails', async () => {
  for (const name of ['none.example', 'unknown.example']) {
    assert.equal((await failureOf(testOutbound('', NAMES).resolve(name))).kind, 'dns')
  }
})

test('a resolver that does not answer is waited for as long as requested, or until the caller aborts', async () => {
  const never = () => new Promise<never>(() => {})
  const outbound = testOutbound('', {}, never)
  assert.equal((await failureOf(outbound.resolve('a.example', { totalMs: 20 }))).kind, 'timeout')
  assert.equal((await failureOf(outbound.resolve('a.example', { signal: AbortSignal.abort() }))).kind, 'aborted')
  const slow = testOutbound('', NAMES, undefined, never)
  assert.equal((await failureOf(slow.resolve('a.example', { wantsAliases: true, totalMs: 20 }))).kind, 'timeout')
})
