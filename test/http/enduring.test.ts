import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { enduring } from '../../src/http/index.ts'

test('a request that makes its handler throw loses its connection, is reported, and ends nothing else', async (t) => {
  const reported: string[] = []
  const server = createServer(
    enduring(
      (request, response) => {
        if (request.url === '/bad') throw new Error('unforeseen')
        response.end('well')
      },
      ({ message }, what) => reported.push(`${what}: ${message}`),
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await assert.rejects(fetch(`${url}/bad`))
  assert.equal(await (await fetch(`${url}/good`)).text(), 'well')
  assert.deepEqual(reported, ['a request: unforeseen'])
})
