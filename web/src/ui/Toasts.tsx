import '@mantine/core/styles/Notification.layer.css'
import '@mantine/notifications/styles.layer.css'
import './toasts.css'
import { Notifications } from '@mantine/notifications'

/** Failures are shown nowhere else, and Mantine's 4 s are too short for someone who looks at another part of the page. */
const SHOWN_MS = 10_000

/** Where toasts appear. */
export function Toasts() {
  return <Notifications position="bottom-right" autoClose={SHOWN_MS} />
}
