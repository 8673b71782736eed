import { Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { BellOff } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { useSilence } from '../../api/alerts.ts'
import type { Place } from './quiet.ts'
import { SilenceDialog } from './SilenceDialog.tsx'
import { SPANS } from './until.ts'

interface Props {
  place: Place
  /** IANA zone of the site: "tomorrow" is tomorrow there. */
  zone: string
  /** The button that opens it. */
  children: ReactElement
  opened?: boolean
  onChange?: (opened: boolean) => void
}

/** Keeps messages about a probe back for a while, in two clicks. */
export function SilenceMenu({ place, zone, children, opened, onChange }: Props) {
  const [isCustom, setCustom] = useState(false)
  const silence = useSilence()
  const choose = (end: number) =>
    silence.mutate(
      { probe_id: place.probe_id, ends_at: new Date(end).toISOString() },
      { onError: ({ message }) => notifications.show({ color: 'danger', title: 'Not silenced', message }) },
    )
  return (
    <>
      <Menu
        position="bottom-end"
        {...(opened === undefined ? {} : { opened })}
        {...(onChange === undefined ? {} : { onChange })}
      >
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Tell nobody about this probe for</Menu.Label>
          {SPANS.map(({ label, endOf }) => (
            <Menu.Item key={label} onClick={() => choose(endOf(Date.now(), zone))}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<BellOff size={16} aria-hidden />} onClick={() => setCustom(true)}>
            Custom…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <SilenceDialog opened={isCustom} onClose={() => setCustom(false)} scope={{ ...NONE, probe_id: place.probe_id }} />
    </>
  )
}

const NONE = { client_id: null, site_id: null, probe_id: null }
