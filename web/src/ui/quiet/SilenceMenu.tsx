import { Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { BellOff } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { SilenceTarget } from './quiet.ts'
import { SilenceDialog } from './SilenceDialog.tsx'
import classes from './SilenceMenu.module.css'
import { silenceScopes } from './silence-scopes.ts'
import { SPANS } from './until.ts'
import { useSilencing } from './use-silencing.ts'

interface Props {
  /** Of an alert that is not over. */
  target: SilenceTarget
  /** IANA zone of the site: "tomorrow" is tomorrow there. */
  zone: string
  /** The button that opens it. */
  children: ReactElement
  opened?: boolean
  onChange?: (opened: boolean) => void
}

/** Keeps messages back for a while, in two clicks: about the tag, event or field of the alert, unless something wider is chosen. */
export function SilenceMenu({ target, zone, children, opened, onChange }: Props) {
  const [isCustom, setCustom] = useState(false)
  const [chosen, setChosen] = useState<string | null>(null)
  const { run } = useSilencing()
  const scopes = silenceScopes(target)
  const { key, scope } = scopes.find((one) => one.key === chosen) ?? scopes[0] ?? NOTHING
  const choose = (end: { ends_at: string } | { until_resolved: true }) =>
    void run({ ...scope, ...end }).catch(({ message }: Error) =>
      notifications.show({ color: 'danger', title: 'Not silenced', message }),
    )
  return (
    <>
      <Menu
        position="bottom-end"
        onOpen={() => setChosen(null)}
        {...(opened === undefined ? {} : { opened })}
        {...(onChange === undefined ? {} : { onChange })}
      >
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown className={classes.menu ?? ''}>
          <Menu.Label>What to silence</Menu.Label>
          <Menu.RadioGroup value={key} onChange={setChosen}>
            {scopes.map((one) => (
              <Menu.RadioItem key={one.key} value={one.key}>
                <span className={classes.scope}>{one.label}</span>
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <Menu.Label>For</Menu.Label>
          {SPANS.map(({ label, endOf }) => (
            <Menu.Item key={label} onClick={() => choose({ ends_at: new Date(endOf(Date.now(), zone)).toISOString() })}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => choose({ until_resolved: true })}>Until resolved</Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<BellOff size={16} aria-hidden />} onClick={() => setCustom(true)}>
            Custom…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <SilenceDialog
        opened={isCustom}
        onClose={() => setCustom(false)}
        scope={scope}
        subject={target.subject_label ?? null}
      />
    </>
  )
}

const NOTHING = { key: 'probe', scope: { client_id: null, site_id: null, probe_id: null } }
