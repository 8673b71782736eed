import { Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { SPANS } from './mutes.ts'

type End = { ends_at: string } | { until_resolved: true }

interface SilenceSpansProps {
  /** IANA zone: "tomorrow" is tomorrow there. */
  zone: string
  /** Silences until then; a rejection is shown. */
  onChoose: (end: End) => Promise<unknown>
}

/** Menu items with the durations of a silence. */
export function SilenceSpans({ zone, onChoose }: SilenceSpansProps) {
  const choose = (end: End) =>
    void onChoose(end).catch(({ message }: Error) =>
      notifications.show({ color: 'danger', title: 'Not silenced', message }),
    )
  return (
    <>
      <Menu.Label>For</Menu.Label>
      {SPANS.map(({ label, endOf }) => (
        <Menu.Item key={label} onClick={() => choose({ ends_at: new Date(endOf(Date.now(), zone)).toISOString() })}>
          {label}
        </Menu.Item>
      ))}
      <Menu.Item onClick={() => choose({ until_resolved: true })}>Until resolved</Menu.Item>
    </>
  )
}
