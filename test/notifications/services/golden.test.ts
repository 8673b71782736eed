import { test } from 'node:test'
import { payloadOf, SERVICES } from '../../../src/notifications/services/services.ts'
import { equalGolden } from './golden.ts'
import { AT, CHANNEL, KEY, PUBLIC_URL, SAMPLES } from './samples.ts'

for (const service of SERVICES) {
  test(`each kind of message reads as it was found good, for ${service}`, () => {
    for (const [name, message] of Object.entries(SAMPLES)) {
      const payload = payloadOf(service, message, {
        publicUrl: PUBLIC_URL,
        at: AT,
        idempotencyKey: KEY,
        channel: CHANNEL,
      })
      equalGolden(import.meta.dirname, `${service}/${name}.json`, `${JSON.stringify(payload, null, 2)}\n`)
    }
  })
}
