import '@mantine/core/styles/Tabs.layer.css'
import { Skeleton, Tabs } from '@mantine/core'
import { LockKeyhole } from 'lucide-react'
import { type ComponentType, lazy, Suspense } from 'react'
import { type May, useSession } from '../../api/session.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { EmptyState } from '../../ui/States.tsx'
import { ChannelsTab } from './ChannelsTab.tsx'
import { DeliveriesTab } from './DeliveriesTab.tsx'
import { AboutTab, AccessTab, EmailTab, RetentionTab } from './ServiceTabs.tsx'
import classes from './settings.module.css'

/** Loaded lazily, because only some people manage accounts and tokens. */
const PeopleTab = lazy(() => import('../people/PeopleTab.tsx').then(({ PeopleTab: Content }) => ({ default: Content })))
const TokensTab = lazy(() => import('../people/TokensTab.tsx').then(({ TokensTab: Content }) => ({ default: Content })))

/** Shown to people who follow a link to a tab that they may not see. */
const FOR_WHOM = {
  isOwner: 'It is for owners of a client: ask one of them to make you an owner.',
  seesService: 'It is about the whole service, and for people with a role for every client.',
} satisfies Partial<Record<keyof May, string>>

interface TabEntry {
  label: string
  Content: ComponentType
  /** The permission that shows it; absent for everyone. */
  isFor?: keyof typeof FOR_WHOM
}

const TABS = {
  channels: { label: 'Channels', Content: ChannelsTab },
  deliveries: { label: 'Deliveries', Content: DeliveriesTab },
  people: { label: 'People', Content: PeopleTab, isFor: 'isOwner' },
  tokens: { label: 'API tokens', Content: TokensTab, isFor: 'isOwner' },
  email: { label: 'E-mail', Content: EmailTab, isFor: 'seesService' },
  access: { label: 'Access', Content: AccessTab, isFor: 'seesService' },
  retention: { label: 'Retention', Content: RetentionTab, isFor: 'seesService' },
  about: { label: 'About', Content: AboutTab, isFor: 'seesService' },
} satisfies Record<string, TabEntry>
type Tab = keyof typeof TABS
const NAMES = Object.keys(TABS) as Tab[]
const entryOf = (name: Tab): TabEntry => TABS[name]

/** The settings: channels, e-mail, people, access, retention, and the version. */
export function SettingsPage() {
  const session = useSession()
  const names = NAMES.filter((name) => {
    const { isFor } = entryOf(name)
    return isFor === undefined || session[isFor]
  })
  const [tab, setTab] = useUrlState<Tab>('tab', 'channels', NAMES, { push: true })
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        value={tab}
        onChange={(value) => setTab(names.find((name) => name === value) ?? 'channels')}
        keepMounted={false}
      >
        <Tabs.List className={classes.tabs}>
          {names.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {TABS[name].label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {!names.includes(tab) && (
          <EmptyState icon={LockKeyhole} title={`You may not see "${TABS[tab].label}"`}>
            {FOR_WHOM[entryOf(tab).isFor ?? 'isOwner']}
          </EmptyState>
        )}
        {names.map((name) => {
          const { Content } = entryOf(name)
          return (
            <Tabs.Panel key={name} value={name} pt="lg">
              <Suspense fallback={<Skeleton height={240} radius="md" aria-busy="true" />}>
                <Content />
              </Suspense>
            </Tabs.Panel>
          )
        })}
      </Tabs>
    </>
  )
}
