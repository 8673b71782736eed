import assert from 'node:assert/strict'
import type { AuditRecord, SpecialDaysRecord } from '../../src/management/index.ts'
import { testLogic } from '../../testkit/engines.ts'
import { openManagement, UNKNOWN_ID } from './support.ts'

const addressOf = ({ id }: { id: string }) => `/api/sites/${id}/special-days`

testLogic('days of a site are marked, listed the latest first, and deleted', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const [site, other] = [await api.site(client), await api.site(client, { name: 'other' })]
  const mark = (body: object) => api.call<SpecialDaysRecord>('POST', addressOf(site), body)
  const { body: local, status } = await mark({ first_day: '2026-10-31' })
  assert.equal(status, 201)
  assert.deepEqual([local.first_day, local.last_day, local.note], ['2026-10-31', '2026-10-31', null])
  const { body: sale } = await mark({ first_day: '2026-11-27', last_day: '2026-11-30', note: ' Black Friday ' })
  assert.deepEqual([sale.last_day, sale.note, sale.created_by], ['2026-11-30', 'Black Friday', 'anonymous'])
  assert.deepEqual(await api.get(addressOf(site)), [sale, local])
  assert.deepEqual(await api.get(addressOf(other)), [])

  await api.refused(404, 'DELETE', `${addressOf(other)}/${sale.id}`)
  await api.delete(`${addressOf(site)}/${sale.id}`)
  assert.deepEqual(await api.get(addressOf(site)), [local])
  const audit = await api.get<AuditRecord[]>(`/api/audit?entity_id=${sale.id}`)
  assert.deepEqual(
    audit.map(({ action, before, after }) => [action, (before ?? after)?.note]),
    [
      ['special_days.delete', 'Black Friday'],
      ['special_days.create', 'Black Friday'],
    ],
  )
})

testLogic('special days are refused that cannot be', async (store, t) => {
  const api = await openManagement(store, t)
  const site = await api.site(await api.client())
  const bodies: object[] = [
    {},
    { first_day: '2026-02-30' },
    { first_day: '2026-11-20T00:00:00Z' },
    { first_day: '2026-11-20', last_day: '2026-11-19' },
    { first_day: '2026-11-20', last_day: '2026-12-04' },
    { first_day: '2026-11-20', note: 'x'.repeat(201) },
  ]
  for (const body of bodies) await api.refused(400, 'POST', addressOf(site), body)
  assert.equal(
    (await api.call('POST', addressOf(site), { first_day: '2026-11-20', last_day: '2026-12-03' })).status,
    201,
  )
  for (const call of ['GET', 'POST'] as const) {
    await api.refused(
      404,
      call,
      addressOf({ id: UNKNOWN_ID }),
      call === 'GET' ? undefined : { first_day: '2026-11-20' },
    )
  }
})

testLogic('days are marked once under a name, and again under another one or on another site', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  const [site, other] = [await api.site(client), await api.site(client, { name: 'other' })]
  const sale = { first_day: '2026-11-27', last_day: '2026-11-30', note: 'Sale' }
  const mark = async (body: object, of = site) =>
    (await api.call<SpecialDaysRecord>('POST', addressOf(of), body)).body.id
  for (const body of [sale, { first_day: '2026-12-24' }]) assert.ok(await mark(body))
  for (const [body, said] of [
    [{ ...sale, note: ' Sale ' }, '2026-11-27 to 2026-11-30 is already marked as “Sale”'],
    [{ first_day: '2026-12-24', note: ' ' }, '2026-12-24 is already marked'],
  ] as const) {
    const { message } = await api.refused(409, 'POST', addressOf(site), body)
    assert.equal(message, said)
  }
  for (const body of [
    { ...sale, note: 'Relaunch' },
    { ...sale, last_day: '2026-11-29' },
  ])
    assert.ok(await mark(body))
  assert.ok(await mark(sale, other))
})

testLogic('special days are deleted with their site', async (store, t) => {
  const api = await openManagement(store, t)
  const client = await api.client()
  for (const path of ['/api/sites', '/api/clients'] as const) {
    const site = await api.site(client)
    await api.call('POST', addressOf(site), { first_day: '2026-11-20' })
    await api.delete(path === '/api/sites' ? `${path}/${site.id}` : `${path}/${client.id}`)
    assert.deepEqual(await store.read.selectFrom('special_days').selectAll().execute(), [])
  }
})
