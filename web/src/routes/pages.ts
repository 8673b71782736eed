import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { BellRing, Building2, CalendarClock, History, LayoutList, Radar, Settings, Sunrise, Tags } from 'lucide-react'
import { OverviewPage } from '../features/overview/OverviewPage.tsx'
import { expectSite } from '../features/site/expect-site.ts'
import { TodayPage } from '../features/today/TodayPage.tsx'
import { frameRoute } from './root.tsx'
import { decideStart } from './start.ts'

const getParentRoute = () => frameRoute

/** Shows the shared components; not in the build that is served. */
const kit = createRoute({
  getParentRoute,
  path: '/kit',
  component: lazyRouteComponent(() => import('../features/kit/KitPage.tsx'), 'KitPage'),
})

/**
 * Every page, in the order of the rail. A page is a folder in `features` and one entry here; its code is loaded when it is first
 * opened. The two start pages are in the first load, because most of what they need is shared with the frame.
 */
export const pages = [
  createRoute({
    getParentRoute,
    path: '/',
    beforeLoad: async ({ context, search }) => {
      throw redirect({ to: await decideStart(context.queryClient, search), search, replace: true })
    },
  }),
  createRoute({
    getParentRoute,
    path: '/today',
    staticData: { nav: { label: 'Today', icon: Sunrise } },
    component: TodayPage,
  }),
  createRoute({
    getParentRoute,
    path: '/overview',
    staticData: { nav: { label: 'Overview', icon: LayoutList } },
    component: OverviewPage,
  }),
  createRoute({
    getParentRoute,
    path: '/sites/$siteId',
    loader: ({ context, params, location, cause }) => {
      if (cause === 'enter') expectSite(context.queryClient, params.siteId, location.search)
    },
    component: lazyRouteComponent(() => import('../features/site/SitePage.tsx'), 'SitePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/incidents',
    staticData: { nav: { label: 'Incidents', icon: BellRing } },
    component: lazyRouteComponent(() => import('../features/incidents/IncidentsPage.tsx'), 'IncidentsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/incidents/$incidentId',
    component: lazyRouteComponent(() => import('../features/incidents/IncidentPage.tsx'), 'IncidentPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts',
    component: lazyRouteComponent(() => import('../features/alerts/AlertsPage.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts/$alertId',
    component: lazyRouteComponent(() => import('../features/alerts/AlertPage.tsx'), 'AlertPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/tags',
    staticData: { nav: { label: 'Tags', icon: Tags } },
    component: lazyRouteComponent(() => import('../features/tags/TagsPage.tsx'), 'TagsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/compare',
    component: lazyRouteComponent(() => import('../features/compare/ComparePage.tsx'), 'ComparePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sites/$siteId/setup',
    component: lazyRouteComponent(() => import('../features/setup/SetupPage.tsx'), 'SetupPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sites/$siteId/keys',
    component: lazyRouteComponent(() => import('../features/site-keys/KeysPage.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sites/$siteId/probes',
    component: lazyRouteComponent(() => import('../features/probes/ProbesPage.tsx'), 'ProbesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sites/$siteId/edit',
    component: lazyRouteComponent(() => import('../features/clients/SiteForm.tsx'), 'EditSitePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/probes',
    staticData: { nav: { label: 'Probes', icon: Radar } },
    component: lazyRouteComponent(() => import('../features/probes/ProbesPage.tsx'), 'ProbesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/probes/new',
    component: lazyRouteComponent(() => import('../features/probes/ProbeFormPages.tsx'), 'NewProbePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/probes/$probeId',
    component: lazyRouteComponent(() => import('../features/probes/ProbePage.tsx'), 'ProbePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/probes/$probeId/edit',
    component: lazyRouteComponent(() => import('../features/probes/ProbeFormPages.tsx'), 'EditProbePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/maintenance',
    staticData: { nav: { label: 'Maintenance', icon: CalendarClock } },
    component: lazyRouteComponent(() => import('../features/maintenance/MaintenancePage.tsx'), 'MaintenancePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/clients',
    staticData: { nav: { label: 'Clients', icon: Building2 } },
    component: lazyRouteComponent(() => import('../features/clients/ClientsPage.tsx'), 'ClientsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/clients/new',
    component: lazyRouteComponent(() => import('../features/clients/ClientForm.tsx'), 'NewClientPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/clients/$clientId',
    component: lazyRouteComponent(() => import('../features/clients/ClientPage.tsx'), 'ClientPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/clients/$clientId/edit',
    component: lazyRouteComponent(() => import('../features/clients/ClientForm.tsx'), 'EditClientPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/clients/$clientId/sites/new',
    component: lazyRouteComponent(() => import('../features/clients/SiteForm.tsx'), 'NewSitePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/audit',
    staticData: { nav: { label: 'Audit', icon: History } },
    component: lazyRouteComponent(() => import('../features/audit/AuditPage.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    staticData: { nav: { label: 'Settings', icon: Settings } },
    component: lazyRouteComponent(() => import('../features/settings/SettingsPage.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/account',
    component: lazyRouteComponent(() => import('../features/people/AccountPage.tsx'), 'AccountPage'),
  }),
  ...(import.meta.env.MODE === 'kit' ? [kit] : []),
]
