import { chat } from './chat.ts'
import { email } from './email.ts'
import type { ChannelKind } from './kind.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerduty } from './pagerduty.ts'
import { webhook } from './webhook.ts'

/** What a client's channel may be. Adding a kind is its file and its line. */
const KINDS = { chat, email, pagerduty, opsgenie, webhook }
export type KindName = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as KindName[]

export const channelKind = (name: KindName): ChannelKind => KINDS[name]

/** The column is text, and a later version may know more: those are webhooks of some sort. */
export const kindNameOf = (text: string): KindName => KIND_NAMES.find((known) => known === text) ?? 'webhook'
