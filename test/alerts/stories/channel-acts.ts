import { isoTime } from '../../../src/lib/index.ts'
import { updateClient } from '../../../src/management/clients.ts'
import { updateSite } from '../../../src/management/sites.ts'
import { deleteOwnChannel, updateOwnChannel } from '../../../src/notifications/api/own-channels.ts'
import { addOverride } from '../../../src/notifications/on-call/on-call.ts'
import type { ClientChannelRow } from '../../../src/store/index.ts'
import { Reader } from './reader.ts'
import { switchSite } from './shared.ts'
import { type Act, PAGER, type Story } from './story.ts'

const ownChannel = ({ store }: Story, kind: 'pagerduty' | 'chat'): Promise<ClientChannelRow> =>
  store.write.selectFrom('client_channels').selectAll().where('kind', '=', kind).executeTakeFirstOrThrow()

const switchTo = async (story: Story, { id, address, client_id }: ClientChannelRow, is_active: boolean) => {
  story.note(`${address.slice(0, 24)} is switched ${is_active ? 'on' : 'off'}`)
  story.failing.delete(address)
  // What keeps incidents is notified that they end there, and has nothing left to believe.
  if (story.readers.get(address)?.options.isKeeper === true) story.readers.get(address)?.join()
  else if (!is_active) story.readers.get(address)?.leave()
  await updateOwnChannel(story.ctx, client_id, id, { is_active })
  await story.send()
}

/** What becomes of channels, of those on call, of sites and of the service itself. */
export const CHANNEL_ACTS: readonly Act[] = [
  ...(['pagerduty', 'chat'] as const).flatMap((kind): Act[] => [
    [
      `switch the channel of ${kind} on or off`,
      async (story) => {
        const row = await ownChannel(story, kind)
        await switchTo(story, row, row.is_active === 0)
      },
    ],
    [
      `delete the channel of ${kind}, and add it again`,
      async (story) => {
        const { id, client_id, ...row } = await ownChannel(story, kind)
        const reader = story.readers.get(row.address)
        if (kind === 'pagerduty') reader?.join()
        else reader?.leave()
        await deleteOwnChannel(story.ctx, client_id, id)
        await story.send()
        await story.addChannel(row)
      },
    ],
  ]),
  [
    'give the pager another key',
    async (story) => {
      const { id, client_id, address } = await ownChannel(story, 'pagerduty')
      const before = story.readers.get(address)
      if (before === undefined) return
      const key = `R${String(story.readers.size).padStart(10, '0')}`
      const next = new Reader({ ...before.options, mayJoin: true })
      story.readers.set(PAGER.replace(/#.*/, `#${key}`), next)
      story.former.add(address)
      // The end of what it may have been sent comes to it, too.
      before.join()
      await updateOwnChannel(story.ctx, client_id, id, { address: key })
      await story.send()
    },
  ],
  [
    'the address of the e-mail or the chat is no more',
    async ({ broken, addresses, readers, perhapsUnnoted }, _chosen, random) => {
      const address = addresses[random.pick<'email' | 'chat_webhook'>(['email', 'chat_webhook'])]
      broken.add(address)
      readers.get(address)?.doubt(perhapsUnnoted(address))
    },
  ],
  ['mend addresses', mendAddresses],
  [
    'nothing gets out',
    async ({ failing, readers }) => {
      for (const [address, { options }] of readers) {
        options.isPrompt = false
        failing.add(address)
      }
    },
  ],
  [
    'someone stands in',
    async ({ ctx, client, people, clock }, { ends_at }, random) => {
      const person_id = random.anyOf(people)?.id
      if (person_id === undefined) return
      await addOverride(ctx, client.id, { person_id, starts_at: isoTime(clock.now()), ends_at })
    },
  ],
  ['switch the site on or off', ({ ctx }, { siteId }) => switchSite(ctx, siteId)],
  ['replace a site', (story, _chosen, random) => story.replaceSite(random.pick([0, 1]))],
  ['kill the service', (story) => story.restart()],
]

/** The same people read them. */
async function mendAddresses({ ctx, client, broken, readers, addresses }: Story): Promise<void> {
  for (const field of ['email', 'chat_webhook'] as const) {
    const address = addresses[field]
    const reader = readers.get(address)
    if (reader === undefined || !broken.has(address)) continue
    const mended = field === 'email' ? `ops${readers.size}.${address}` : `${address}x`
    readers.delete(address)
    readers.set(mended, reader)
    reader.miss()
    broken.delete(address)
    addresses[field] = mended
    await updateClient(ctx, client.id, { [field]: mended }, false)
  }
}

/** Whatever failed or was switched off works again. */
export async function settleChannels(story: Story): Promise<void> {
  await mendAddresses(story)
  for (const kind of ['pagerduty', 'chat'] as const) {
    const row = await ownChannel(story, kind)
    if (row.is_active === 0) await switchTo(story, row, true)
  }
  for (const { id } of story.sites) await updateSite(story.ctx, id, { is_active: true })
}
