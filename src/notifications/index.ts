export { deliveriesOf } from './api/deliveries.ts'
export type { DigestOptOut, DigestSubscription } from './api/digest-readers.ts'
export { CreateOwnChannel, type OwnChannelRecord, type UpdateOwnChannel } from './api/own-channel-schemas.ts'
export { addressIn, checkWait, MOST_CHANNELS } from './api/own-channels.ts'
export { notificationRoutes } from './api/routes.ts'
export { type ChannelList, type ChannelRecord, DeliveryRecord, type TestResult } from './api/schemas.ts'
export { LocalTimes } from './cards/card.ts'
export {
  type Channel,
  type ChannelKey,
  type ChannelSettings,
  channelsFailingSince,
  channelsOf,
  channelsOfPeople,
  channelsOfPerson,
  channelsOnCall,
  type FailingChannel,
  isReachable,
  isWorking,
  kindOf,
  offChannels,
  type Recipients,
  takesSeverity,
} from './channel.ts'
export { channelInWords, type DeliveredHook } from './delivery/attempt.ts'
export { runsInTime } from './delivery/overdue.ts'
export { gathersEnds, groupsOf, nextStep, OUTAGE_MS, type QueuedMessage } from './delivery/schedule.ts'
export { type DigestReaders, digestReaders, hasDigestReaders } from './digest-readers.ts'
export { composeNotice } from './email/compose.ts'
export type { Mailer } from './email/mail.ts'
export { createEmailTransport, createMailer, outcomeOfFailure, smtpServer } from './email/transport.ts'
export { removeMessagesOfAlerts } from './farewell.ts'
export { TRIED_FOR_MS, tryAgain } from './given-up.ts'
export { briefOnes, sayCritical, withdrawEnd } from './merging.ts'
export * from './message.ts'
export { Notifications, type NotificationsOptions } from './notifications.ts'
export {
  amendVendorMessages,
  channelsKnowingCritical,
  channelsNotified,
  channelsTakingForWarning,
  isVendorKnown,
  lastCritical,
  withdrawVendorEnd,
} from './notified.ts'
export type { AddOverride, OnCallRecord, OverrideRecord, SetOnCall } from './on-call/schemas.ts'
export { escalatesTo, type OnCallPerson, type OnCallPlan, whoIsOnCall } from './on-call/who-is-on-call.ts'
export {
  amendMessages,
  enqueue,
  heldOpenings,
  moveEnd,
  postponeOpenings,
  releaseHeld,
  withdrawMessages,
} from './outbox.ts'
export { BRIEF, GATHER_MS, type OutboxEntry } from './outbox-entry.ts'
export { type OwnChannel, withChannels } from './own-channels.ts'
export { type QuietHours, quietUntil } from './quiet-hours.ts'
export { isForIncidents, isForPeople, type ServiceKind, takesMessage } from './services/services.ts'
export { createChatTransport } from './services/transport.ts'
export type { SendOrder, SendOutcome, Transport, Transports } from './transport.ts'
