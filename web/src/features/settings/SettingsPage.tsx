import { Tabs } from '@mantine/core'
import { useUrlState } from '../../lib/use-url-state.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ChannelsTab } from './ChannelsTab.tsx'
import { DeliveriesTab } from './DeliveriesTab.tsx'
import { AboutTab, AccessTab, EmailTab, RetentionTab } from './ServiceTabs.tsx'
import classes from './settings.module.css'

const TABS = {
  channels: { label: 'Channels', Content: ChannelsTab },
  deliveries: { label: 'Deliveries', Content: DeliveriesTab },
  email: { label: 'E-mail', Content: EmailTab },
  access: { label: 'Access', Content: AccessTab },
  retention: { label: 'Retention', Content: RetentionTab },
  about: { label: 'About', Content: AboutTab },
} as const
type Tab = keyof typeof TABS
const NAMES = Object.keys(TABS) as Tab[]

/** How people are reached, who may look, what is kept, and what runs here. */
export function SettingsPage() {
  const [tab, setTab] = useUrlState<Tab>('tab', 'channels', NAMES, { push: true })
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        value={tab}
        onChange={(value) => setTab(NAMES.find((name) => name === value) ?? 'channels')}
        keepMounted={false}
      >
        <Tabs.List className={classes.tabs}>
          {NAMES.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {TABS[name].label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {NAMES.map((name) => {
          const { Content } = TABS[name]
          return (
            <Tabs.Panel key={name} value={name} pt="lg">
              <Content />
            </Tabs.Panel>
          )
        })}
      </Tabs>
    </>
  )
}
