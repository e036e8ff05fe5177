// The dashboard's script: live updates that never move content under the pointer, keyboard shortcuts, the theme.
(() => {
  'use strict';
  const $ = (selector) => document.querySelector(selector);
  const table = $('#runs');

  // The theme: system, light or dark. A cookie, so that the server renders the page with it.
  const theme = $('#theme');
  if (theme) {
    theme.hidden = false;
    theme.addEventListener('click', () => {
      const all = ['system', 'light', 'dark'];
      const next = all[(all.indexOf(document.documentElement.dataset.theme) + 1) % all.length];
      document.documentElement.dataset.theme = next;
      theme.querySelector('span').textContent = next;
      document.cookie = `semel_theme=${next}; Path=/; Max-Age=31536000; SameSite=Lax`;
    });
  }

  // Relative times are updated every 5 seconds.
  const span = (seconds) => {
    const two = (a, x, b, y) => `${a} ${x}${b ? ` ${b} ${y}` : ''}`;
    if (seconds >= 86400) return two(Math.floor(seconds / 86400), 'd', Math.floor(seconds % 86400 / 3600), 'h');
    if (seconds >= 3600) return two(Math.floor(seconds / 3600), 'h', Math.floor(seconds % 3600 / 60), 'm');
    if (seconds >= 60) return two(Math.floor(seconds / 60), 'm', seconds % 60, 's');
    return `${seconds} s`;
  };
  const updateTimes = () => document.querySelectorAll('time[datetime]').forEach((time) => {
    const past = Math.floor((Date.now() - new Date(time.dateTime)) / 1000);
    const text = past < -1 ? `in ${span(-past)}` : past <= 0 ? 'just now' : `${span(past)} ago`;
    if (time.textContent !== text) time.textContent = text;
  });
  setInterval(updateTimes, 5000);

  // Keyboard shortcuts.
  const help = $('#keys-help');
  const enabled = $('#shortcuts');
  enabled.checked = localStorage.getItem('semel_shortcuts') !== 'off';
  enabled.addEventListener('change', () => localStorage.setItem('semel_shortcuts', enabled.checked ? 'on' : 'off'));
  const button = $('#help');
  if (button) {
    button.hidden = false;
    button.addEventListener('click', () => help.showModal());
  }
  // Selected runs, and runs with hidden requests. A row that is updated keeps both states.
  const chosen = $('#chosen');
  const selected = new Set();
  const folded = new Set();
  const count = () => {
    if (chosen) $('#picked').textContent = `(${selected.size} selected)`;
  };
  const fold = (body, away) => {
    const toggle = body.querySelector('.fold');
    if (!toggle) return;
    if (away) folded.add(body.dataset.run); else folded.delete(body.dataset.run);
    toggle.setAttribute('aria-expanded', String(!away));
    body.classList.toggle('folded', away);
  };
  const restore = (body) => {
    const box = body.querySelector('[name=run]');
    if (box) box.checked = selected.has(body.dataset.run);
    fold(body, folded.has(body.dataset.run));
  };
  const tick = (box) => {
    if (box.checked) selected.add(box.value); else selected.delete(box.value);
    count();
  };
  if (table) {
    document.documentElement.classList.add('scripted');
    table.querySelectorAll('[name=run]').forEach(tick); // browsers restore the selection on "back"
    count();
    table.addEventListener('change', (event) => { if (event.target.name === 'run') tick(event.target); });
    table.addEventListener('click', (event) => {
      const toggle = event.target.closest('.fold');
      if (toggle) fold(toggle.closest('tbody'), toggle.getAttribute('aria-expanded') === 'true');
    });
    document.body.addEventListener('htmx:load', (event) => {
      if (event.detail.elt.matches('tbody[data-run]')) restore(event.detail.elt);
    });
  }
  const here = () => table && document.activeElement.closest('tbody[data-run]');
  const plan = () => {
    const form = chosen || $('form[action="/replays"]');
    if (!form) return;
    if (chosen && !selected.size && here()) {
      const box = here().querySelector('[name=run]');
      box.checked = true;
      tick(box);
    }
    if (chosen && selected.size) {
      chosen.requestSubmit();
      return;
    }
    if (form.closest('details')) form.closest('details').open = true;
    form.querySelector('button').focus();
  };
  let goPressedAt = 0;
  const step = (by) => {
    const rows = [...document.querySelectorAll('tr.run, table.list:not(.runs) tbody tr')];
    const now = rows.indexOf(document.activeElement.closest('tr'));
    const row = rows[Math.min(rows.length - 1, Math.max(0, now + by))];
    if (row) (row.querySelector('a') || row).focus();
  };
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && $('#jump')) {
      event.preventDefault();
      $('#jump').focus();
      $('#jump').select();
      return;
    }
    const typing = event.target.closest('input:not([type=checkbox]), textarea, select, dialog');
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !enabled.checked) return;
    if (Date.now() - goPressedAt < 1500) {
      goPressedAt = 0;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) link.click();
      return;
    }
    const first = $('#filters input, #filters select');
    const actions = {
      g: () => { goPressedAt = Date.now(); },
      '/': () => first && first.focus(),
      j: () => step(1),
      k: () => step(-1),
      x: () => { const box = here() && here().querySelector('[name=run]'); if (box) box.click(); },
      e: () => { const toggle = here() && here().querySelector('.fold'); if (toggle) toggle.click(); },
      r: plan,
      t: () => { const twin = $('#twin'); if (twin) twin.open = !twin.open; },
      n: () => { const news = $('#news button'); if (news) news.click(); },
      '?': () => help.showModal(),
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  });

  // Inserts the selected field at the last cursor position: inside an expression as a name, else as an expression.
  let target = null;
  document.addEventListener('focusin', (event) => {
    if (event.target.matches('.panel input[name^="f."], .panel input[name="new_value"]')) target = event.target;
  });
  document.addEventListener('change', (event) => {
    const path = event.target.id === 'insert' && event.target.value;
    const field = target && document.contains(target) ? target : $('.panel input[name="f.idempotent.key"], .panel input[name^="f."]');
    if (!path || !field) return;
    const before = field.value.slice(0, field.selectionStart);
    const open = before.lastIndexOf('${') > before.lastIndexOf('}');
    field.setRangeText(open ? path : '${ ' + path + ' }', field.selectionStart, field.selectionEnd, 'end');
    event.target.value = '';
    field.focus();
  });

  // Scrolls the file to the open step, and to the position of an error.
  const text = $('#yaml');
  const reveal = (line) => {
    text.scrollTop = Math.max(0, line - 3) * parseFloat(getComputedStyle(text).lineHeight);
  };
  if (text && text.dataset.at) reveal(Number(text.dataset.at));
  document.addEventListener('click', (event) => {
    const to = event.target.closest('[data-line]');
    if (!to || !text) return;
    const lines = text.value.split('\n');
    const line = Number(to.dataset.line) - 1;
    const start = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
    text.focus();
    text.setSelectionRange(start + Number(to.dataset.column) - 1, start + (lines[line] || '').length);
    reveal(line);
  });

  // Fields with unsent input, which live updates must not overwrite.
  const isTyped = (field) => {
    if (field.type === 'hidden' || field.matches('#jump, #shortcuts')) return false;
    if (field.type === 'checkbox' || field.type === 'radio') return field.checked !== field.defaultChecked;
    if (field.options) {
      const first = [...field.options].findIndex((option) => option.defaultSelected);
      return field.selectedIndex !== Math.max(0, first);
    }
    return field.value !== field.defaultValue;
  };
  const typed = (where) => [...where.querySelectorAll('input, textarea, select')].filter(isTyped);

  // The page of a rejected form has the form's URL, so the page itself contains its own URL.
  const ownUrl = $('[data-self]') && $('[data-self]').dataset.self;
  const refilled = Boolean(ownUrl) && decodeURIComponent(location.pathname) !== decodeURIComponent(ownUrl);
  const self = () => (refilled ? ownUrl : location.pathname + location.search);

  // When the session ends, the page stays as it is and continues after the same user has logged in again.
  const pill = $('#live');
  const address = document.body.dataset.live;
  let lost = 0;
  let loggedOut = false;
  let listen = () => {};
  const showState = (tone, text) => {
    pill.hidden = false;
    pill.className = `pill ${tone}`;
    if (pill.textContent !== text) pill.textContent = text;
  };
  const endSession = () => {
    if (loggedOut || !pill) return;
    lost = 0;
    loggedOut = true;
    showState('bad', '○ your session has ended: ');
    const link = document.createElement('a');
    link.href = `/login?next=${encodeURIComponent(self())}`;
    link.textContent = 'log in again';
    if (typed(document).length || text) {
      link.target = '_blank';
      link.textContent = 'log in in another tab, then continue here';
    }
    pill.append(link);
  };
  const resumeSession = () => loggedOut && fetch('/sessions', { headers: { 'HX-Request': 'true' } }).then((answer) => {
    if (!answer.ok) return null;
    return answer.text();
  }).then((html) => {
    if (!html) return;
    const page = new DOMParser().parseFromString(html, 'text/html');
    const who = page.querySelector('.who a').textContent;
    const where = page.querySelector('.where').textContent;
    if (who !== $('.who a').textContent || where !== $('.where').textContent) {
      showState('bad', `○ ${who} is now logged in to workspace ${where}: reload the page`);
      return;
    }
    const token = page.querySelector('input[name="csrf"]').value;
    document.querySelectorAll('input[name="csrf"]').forEach((field) => { field.value = token; });
    loggedOut = false;
    showState('good', '● logged in again');
    listen();
  }, () => {});
  addEventListener('focus', resumeSession);
  document.addEventListener('htmx:responseError', (event) => {
    if (event.detail.xhr.status === 401) endSession();
  });

  // Live updates.
  if (!address) return;
  const news = $('#news');
  const fresh = new Set();
  const fitting = new Set();
  const moved = new Set();
  let over = false;
  let came = 0;
  const stamp = (run) => `${run.status} ${run.replays} ${run.conflicts}`;
  const offer = (text, action) => {
    if (!news) return;
    if (!text) {
      news.replaceChildren();
      return;
    }
    const show = news.querySelector('button') || document.createElement('button');
    show.type = 'button';
    if (show.textContent !== text) show.textContent = text;
    if (!show.parentNode) {
      show.addEventListener('click', action);
      news.replaceChildren(show);
    }
  };
  const say = () => {
    const parts = [];
    if (fresh.size) parts.push(`${fresh.size} new ${fresh.size === 1 ? 'run' : 'runs'}`);
    if (fitting.size) parts.push(`${fitting.size} new ${fitting.size === 1 ? 'run' : 'runs'} may match the filter`);
    if (moved.size) parts.push(`${moved.size} changed`);
    if (came) parts.push(`${came} new ${came === 1 ? news.dataset.of.slice(0, -1) : news.dataset.of}`);
    offer(parts.length ? `${parts.join(', ')}: show` : '', () => location.reload());
  };
  // Other lists show only the number of new entries. Every live page updates the number of open reviews.
  const arrived = (kind, number) => {
    if (!news || news.dataset.of !== kind || !number) return;
    came += number;
    say();
  };
  const onReviews = (reviews) => {
    const waiting = $('#waiting');
    if (waiting) {
      waiting.hidden = !reviews.open;
      waiting.firstElementChild.textContent = reviews.open;
    }
    arrived('reviews', reviews.new);
  };
  const place = (id) => table.querySelector(`tbody[data-run="${CSS.escape(id)}"]`);
  const redraw = (id) => {
    const body = place(id);
    if (!body) return;
    const named = table.dataset.workflow === '';
    htmx.ajax('GET', `/runs/${encodeURIComponent(id)}/row?named=${named}`, { target: body, swap: 'outerHTML' });
  };
  const settle = () => {
    if (over || table.contains(document.activeElement)) return;
    moved.forEach(redraw);
    moved.clear();
    say();
  };
  if (table) {
    table.addEventListener('mouseenter', () => { over = true; });
    table.addEventListener('mouseleave', () => { over = false; settle(); });
    table.addEventListener('focusout', () => setTimeout(settle));
  }
  const edge = (first) => {
    const times = table.querySelectorAll('tr.run time');
    const at = first ? times[0] : times[times.length - 1];
    return at ? Date.parse(at.dateTime) : 0;
  };
  // Whether a run that is not in the list matches the filter, as far as the event shows.
  const lengths = { m: 60, h: 3600, d: 86400 };
  const fits = (run) => {
    const { status, key, replayed, since, last } = table.dataset;
    const age = (Date.now() - Date.parse(run.created_at)) / 1000;
    return (!status || status === run.status) && (!key || key === run.key) && (!replayed || run.replays > 0)
      && (!since || age <= parseInt(since, 10) * (lengths[since.slice(-1)] || 1))
      && (last === 'true' || Date.parse(run.created_at) >= edge(false));
  };
  const onList = (run) => {
    if (table.dataset.workflow !== '' && table.dataset.workflow !== run.workflow) return;
    const body = place(run.run_id);
    if (body) {
      if (body.dataset.stamp !== stamp(run)) {
        body.dataset.stamp = stamp(run);
        moved.add(run.run_id);
      }
    } else if (table.dataset.newest === 'true' && table.dataset.filtered === 'true') {
      if (fits(run)) fitting.add(run.run_id);
      else fitting.delete(run.run_id);
    } else if (table.dataset.newest === 'true' && Date.parse(run.created_at) > edge(true)) {
      fresh.add(run.run_id);
    }
    settle();
    say();
  };

  // The run page is updated as a whole, so never under the pointer or focus, nor over unsent input. A slow update
  // runs less often.
  let recorded = -1;
  let due = null;
  let drawing = false;
  let drawn = 0;
  let took = 0;
  let timer = 0;
  const parts = () => [...$('#run').querySelectorAll('details')];
  const named = (details) => details.querySelector('summary').textContent;
  const remember = () => parts().forEach((details) => { details.dataset.drawn = details.open; });
  const spot = (field) => {
    const step = field.form && field.form.querySelector('input[name="step"]');
    return `${field.form ? field.form.getAttribute('action') : ''} ${step ? step.value : ''} ${field.name}`;
  };
  const draw = () => {
    if (drawing) return;
    const turned = new Map(parts().filter((one) => String(one.open) !== one.dataset.drawn)
      .map((one) => [named(one), one.open]));
    // Radio buttons are not restored, because the question may have changed.
    const filled = refilled ? [...$('#run').querySelectorAll('input, textarea')].filter((one) => one.type !== 'hidden') : [];
    const words = new Map([...filled, ...typed($('#run'))].filter((field) => !field.matches('[type="radio"], [type="checkbox"]'))
      .map((field) => [spot(field), field.value]));
    const began = Date.now();
    const shown = due;
    drawing = true;
    const end = () => {
      drawing = false;
      drawn = Date.now();
      took = drawn - began;
    };
    htmx.ajax('GET', self(), { target: '#run', select: '#run', swap: 'outerHTML' })
      .then(() => {
        end();
        remember();
        parts().forEach((one) => { if (turned.has(named(one))) one.open = turned.get(named(one)); });
        $('#run').querySelectorAll('input, textarea, select').forEach((field) => {
          if (field.type !== 'hidden' && words.has(spot(field))) field.value = words.get(spot(field));
        });
        if (due === shown) due = null;
        offer('');
        follow();
      }, end);
  };
  const follow = () => {
    if (!due || drawing || loggedOut) return;
    const here = $('#run');
    if (refilled || here.matches(':hover') || here.contains(document.activeElement) || typed(here).length) {
      offer(`run changed, now ${due.status.replace('_', ' ')}: show`, draw);
      return;
    }
    const wait = drawn + Math.max(1000, 5 * took) - Date.now();
    clearTimeout(timer);
    if (wait > 0) timer = setTimeout(follow, wait);
    else draw();
  };
  const onRun = (run) => {
    const same = $('#run').dataset.stamp === stamp(run) && (recorded < 0 || recorded === run.recorded);
    recorded = run.recorded;
    if (!same) due = run;
    follow();
  };
  if ($('#run')) {
    remember();
    ['mouseover', 'focusout', 'input'].forEach((kind) => document.addEventListener(kind, () => setTimeout(follow)));
    document.documentElement.addEventListener('mouseleave', () => setTimeout(follow));
  }
  // While the server applies a plan, its numbers are updated; the list below stays.
  let lastState = '';
  const onPlan = (plan, source) => {
    const now = JSON.stringify([plan.status, plan.progress]);
    if (now !== lastState) htmx.ajax('GET', ownUrl || location.pathname, { target: '#plan', select: '#plan', swap: 'outerHTML' });
    lastState = now;
    if (plan.status !== 'applying' && $('#plan-stop')) $('#plan-stop').remove();
    if (plan.progress.verified) {
      source.close();
      showState('', '● ended');
    }
  };
  // Checks why a stream was rejected: a new session needs a log-in, other errors are retried.
  const isRejected = () => {
    const look = new AbortController();
    return fetch(address, { signal: look.signal }).then((answer) => {
      look.abort();
      return answer.status === 401 || answer.status === 403;
    }, () => false);
  };
  listen = () => {
    const source = new EventSource(address);
    source.onopen = () => { lost = 0; showState('good', '● live'); };
    source.addEventListener('run', (event) => {
      const run = JSON.parse(event.data);
      if (table) onList(run);
      else if ($('#run')) onRun(run);
      if (run.ended) {
        source.close();
        showState('', '● ended');
      }
    });
    source.addEventListener('requests', (event) => arrived('requests', JSON.parse(event.data).new));
    source.addEventListener('reviews', (event) => onReviews(JSON.parse(event.data)));
    source.addEventListener('progress', (event) => onPlan(JSON.parse(event.data), source));
    source.onerror = () => {
      lost = lost || Date.now();
      if (source.readyState === EventSource.CLOSED) {
        source.close();
        isRejected().then((gone) => gone ? endSession() : setTimeout(listen, 5000));
      }
    };
  };
  setInterval(() => {
    if (lost) showState('bad', `○ server unreachable, retrying (${span(Math.floor((Date.now() - lost) / 1000))})`);
  }, 1000);
  addEventListener('pagehide', () => { lost = 0; });
  listen();
})();
