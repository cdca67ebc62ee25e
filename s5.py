from s4 import *
for over in (0,1,2):
  for cfg in ("1.5:8:6:h",):
    R,s,q,d=cfg.split(":"); R,s,q=float(R),float(s),int(q)
    tot=[]
    for p in ("odd","corner","face","middle"):
        e,*_=errors(lambda src: gram(R,s,q,d,src,over=over),p,radii=(1.,1.25,1.5,2.))
        tot.append(np.sqrt((e**2).mean(1)))
    tot=100*np.array(tot)
    print(over,cfg.ljust(12),"worst pos rms",np.round(tot.max(0),2),"corner",np.round(tot[1],2),"odd",np.round(tot[0],2),flush=True)
