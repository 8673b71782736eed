import assert from 'node:assert/strict'
import type { SavedViewRecord } from '../../src/management/index.ts'
import { bearer } from '../../testkit/api.ts'
import { newClock } from '../../testkit/clock.ts'
import { logicEngines, placeFor, testPerEngine } from '../../testkit/engines.ts'
import { startTestService } from '../../testkit/service.ts'
import { ADMIN } from './support.ts'

testPerEngine(
  'a view that one saves is there for all, until someone deletes it',
  async (engine, t) => {
    const api = await startTestService(t, newClock(), { ADMIN_TOKEN: ADMIN, ...(await placeFor(engine, t)) })
    const call = (method: string, path: string, body?: object) => api.call(method, path, body, bearer(ADMIN))
    const save = (name: string, path: string) => call('POST', '/api/views', { name, path })
    const saved = await save(' Broken at Acme ', '/?filter=broken&q=acme')
    assert.equal(saved.status, 201, saved.text)
    const view = saved.json<SavedViewRecord>()
    assert.deepEqual([view.name, view.path], ['Broken at Acme', '/?filter=broken&q=acme'])
    const list = async () => (await call('GET', '/api/views')).json<SavedViewRecord[]>()
    assert.deepEqual(await list(), [view])
    const again = await save('Broken at Acme', '/incidents')
    assert.equal(again.status, 409)
    assert.match(again.text, /There is already a view “Broken at Acme”/)
    // What leads to another host, or is no page.
    for (const path of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '',
      '/a b',
    ]) {
      const refused = await save('View', path)
      assert.equal(refused.status, 400, path)
      assert.equal(refused.json<{ details: { path: string }[] }>().details[0]?.path, '/path')
    }
    for (let n = 1; n < 50; n++) assert.equal((await save(`View ${n}`, '/incidents')).status, 201)
    assert.equal((await save('One more', '/incidents')).status, 409)
    assert.equal((await call('DELETE', `/api/views/${view.id}`)).status, 204)
    assert.equal((await call('DELETE', `/api/views/${view.id}`)).status, 404)
    assert.equal((await list()).length, 49)
  },
  logicEngines,
)

testPerEngine('of views that are saved at once under one name only one is there', async (engine, t) => {
  const api = await startTestService(t, newClock(), { ADMIN_TOKEN: ADMIN, ...(await placeFor(engine, t)) })
  // The first round opens the connections.
  for (const name of ['Broken', 'Paused']) {
    const save = () => api.call('POST', '/api/views', { name, path: '/' }, bearer(ADMIN))
    const answers = await Promise.all(Array.from({ length: 6 }, save))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
  }
})
